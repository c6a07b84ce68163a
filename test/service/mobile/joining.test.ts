import { beforeEach, describe, expect, test } from 'vitest'
import { acme, clock, installHooks, service } from '../acme.ts'
import { minute } from '../clock.ts'
import { ada, auditOf, contentsOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import { createMobileUser, type MobileUser } from '../mobile-user.ts'

installHooks()

const invalid = [403, 'auth_code_invalid', []]

let user: MobileUser
beforeEach(async () => {
  user = await createMobileUser(service, { email: ada.email })
})

const newCode = async (body: object = {}, org = acme): Promise<{ id: number; code: string }> =>
  dataOf(
    await service.call('POST', `/organization/${org.id}/create/auth-code`, { body: { label: 'x', ...body } }),
  )
const usesLeft = async (): Promise<(number | null)[]> =>
  dataOf(await service.call('GET', `/organization/${acme.id}/get-org-auth-codes`)).map(
    (row: { uses_left: number | null }) => row.uses_left,
  )
const join = (auth_code: string, who: object = { user_id: user.user_id }, key?: string) =>
  service.call('POST', '/user/assign-org', { key, body: { ...who, auth_code } })
const check = async (who: object = { mobile: user.mobile }, key?: string) =>
  service.call('POST', '/user/check-org-assignment', { key, body: who })
const move = (what: string) =>
  service.call('POST', `/organization/${acme.id}/user/${user.user_id}/${what}`, { body: {} })

describe('an auth code', () => {
  test('requests to join with the details of the account, and an administrator accepts', async () => {
    const { id, code } = await newCode({ uses: 2 })
    const organization = { id: acme.id, name: 'acme', slug: 'acme' }
    expect(dataOf(await join(code))).toEqual({ user_id: user.user_id, organization, state: 'pending' })
    expect(await usesLeft()).toEqual([1])
    expect(dataOf(await check())).toEqual({ assigned: false, state: 'pending', role: 'member', organization })
    expect(dataOf(await service.call('GET', `/organization/${acme.id}/pending/users`))).toMatchObject([
      { id: user.user_id, first_name: ada.first_name, email: '', state: 'pending' },
    ])
    dataOf(await move('accept'))
    expect(dataOf(await check())).toMatchObject({ assigned: true, state: 'active', role: 'member' })
    expect(await auditOf(service, acme.id)).toContainEqual([
      'assignOrganization',
      `user:${user.user_id}`,
      ['state', `auth-code:${id}`],
    ])
  })

  test('copies the e-mail address only if it is verified', async () => {
    const mail = (await service.messages()).find(({ kind }) => kind === 'email_verification')!
    const [, token] = /#verify-email=([\w-]+)/.exec(mail.text)!
    const headers = { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' }
    const path = '/svc/v1/approver/email-verification'
    dataOf(await service.call('POST', path, { key: null, body: { token }, headers }))
    dataOf(await join((await newCode()).code))
    expect(dataOf(await service.call('GET', `/organization/${acme.id}/pending/users`))).toMatchObject([
      { email: ada.email },
    ])
  })

  test('is accepted in any spelling', async () => {
    const { code } = await newCode()
    const typed = ` ${code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')} `
    expect(dataOf(await join(typed)).state).toBe('pending')
  })

  test('has one answer for wrong, expired, used, deleted and foreign codes', async () => {
    const other = await createTenant(service, 'other')
    const used = await newCode({ uses: 1 })
    dataOf(await join(used.code))
    const stranger = await createMobileUser(service, { mobile: '2025550102' })
    const lapsed = await newCode({ expires_at: '2030-01-31T12:30:00Z' })
    const deleted = await newCode()
    await service.call('DELETE', `/organization/${acme.id}/delete/auth-code/${deleted.id}`)
    clock.tick(30 * minute)
    const wrong = ['0000-0000-0000-0000', 'x', used.code, lapsed.code, deleted.code]
    const answers = await Promise.all(wrong.map((code) => join(code, { mobile: stranger.mobile })))
    const local = await createMobileUser(service, { key: other.key, mobile: '2025550103' })
    const valid = await newCode()
    answers.push(await join(valid.code, { user_id: local.user_id }, other.key))
    for (const answer of answers) expect(refusal(answer)).toEqual(invalid)
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(await usesLeft()).toEqual([0, null, null])
  })

  test('with one use left accepts one of fifty concurrent requests', async () => {
    const { code } = await newCode({ uses: 1 })
    const users = [user]
    for (let n = 2; n <= 8; n++) users.push(await createMobileUser(service, { mobile: `202555010${n}` }))
    const answers = await Promise.all(
      Array.from({ length: 48 }, (_, i) => join(code, { user_id: users[i % 8]!.user_id })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await usesLeft()).toEqual([0])
  })

  test('is not used up by a member or a pending user', async () => {
    const { code } = await newCode({ uses: 5 })
    dataOf(await join(code))
    expect(refusal(await join(code))).toEqual([409, 'already_assigned', []])
    dataOf(await move('accept'))
    expect(refusal(await join(code))).toEqual([409, 'already_assigned', []])
    expect(await usesLeft()).toEqual([4])
  })

  test('lets a rejected or removed user request again, as a member', async () => {
    const { code } = await newCode()
    dataOf(await join(code))
    dataOf(await move('reject'))
    expect(dataOf(await join(code)).state).toBe('pending')
    dataOf(await move('accept'))
    const target = { org_id: acme.id, user_id: user.user_id }
    dataOf(await service.call('POST', '/make-admin', { body: target }))
    dataOf(await service.call('POST', '/organization/remove/user', { body: target }))
    dataOf(await join(code))
    expect(dataOf(await check())).toMatchObject({ assigned: false, state: 'pending', role: 'member' })
  })

  test('requires an account', async () => {
    const { code } = await newCode({ uses: 1 })
    const before = await contentsOf(service)
    expect(refusal(await join(code, { mobile: '+12025550109' }))).toEqual([404, 'not_found', []])
    expect(refusal(await join(code, { user_id: 999 }))).toEqual([404, 'not_found', []])
    expect(refusal(await join(code, {}))).toEqual([422, 'invalid_field', ['mobile', 'user_id']])
    expect(await contentsOf(service)).toEqual(before)
  })
})

describe('the assignment', () => {
  test('is empty for an unknown number and for a person who never requested it', async () => {
    const none = { assigned: false, state: null, role: null, organization: null }
    expect(dataOf(await check({ mobile: '+12025550109' }))).toEqual(none)
    expect(dataOf(await check())).toEqual(none)
  })

  test('to several organizations requires org_id, and a key sees only its own', async () => {
    const other = await createTenant(service, 'other')
    for (const org of [acme, other]) dataOf(await join((await newCode({}, org)).code))
    expect(refusal(await check())).toEqual([422, 'invalid_field', ['org_id']])
    const one = dataOf(await check({ mobile: user.mobile, org_id: other.id }))
    expect(one.organization.slug).toBe('other')
    expect(dataOf(await check({ mobile: user.mobile }, acme.key)).organization.slug).toBe('acme')
  })
})
