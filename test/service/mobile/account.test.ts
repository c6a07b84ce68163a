import { describe, expect, test } from 'vitest'
import { deleteExpired } from '../../../src/service/lifecycle/retention.ts'
import { acme, clock, installHooks, service } from '../acme.ts'
import { day } from '../clock.ts'
import { ada, auditOf, contentsOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { createMobileUser, register, send } from '../mobile-user.ts'

installHooks()

const mobile = '+12025550101'

const get = (number = mobile, key?: string) =>
  service.call('POST', '/getuser', { key, body: { mobile: number } })
const update = (body: object, key?: string) => service.call('POST', '/update-profile', { key, body })

describe('a user by mobile number', () => {
  test('is the account and the memberships that the key reaches', async () => {
    const other = await createTenant(service, 'other')
    for (const { id } of [acme, other]) await createMember(service, id, 1)
    const { user_id } = await createMobileUser(service, { key: acme.key })
    const [inAcme, inOther] = [acme, other].map(({ id }, at) => {
      const slug = ['acme', 'other'][at]
      return { id, name: slug, slug, role: 'member', state: 'active' }
    })
    const account = expect.objectContaining({ first_name: 'Ada', email: null })
    const person = { user_id, mobile: mobile.slice(2), mobile_e164: mobile, country_code: '+1' }
    const by = async (key: string) => dataOf(await get(mobile, key))
    expect(await by(acme.key)).toEqual({ ...person, account, organizations: [inAcme] })
    expect(await by(other.key)).toEqual({ ...person, account: null, organizations: [inOther] })
    expect(await by(service.operatorKey)).toEqual({
      ...person,
      account: null,
      organizations: [inAcme, inOther],
    })
  })

  test('is found by any spelling of the number, and is a 404 if nobody within reach has it', async () => {
    await createMobileUser(service)
    expect(dataOf(await get('+1 (202) 555-0101')).mobile_e164).toBe(mobile)
    expect(refusal(await get('+12025550109'))).toEqual([404, 'not_found', []])
    expect(refusal(await get(mobile, acme.key))).toEqual([404, 'not_found', []])
    expect(refusal(await get('2025550101'))).toEqual([422, 'invalid_field', ['mobile']])
  })

  test('has an empty list of organizations at first, not a 404', async () => {
    const { user_id } = await createMobileUser(service)
    const orgs = (key?: string) =>
      service.call('POST', '/organization/user/getOrganizations', { key, body: { user_id } })
    expect(dataOf(await orgs())).toEqual([])
    expect(refusal(await orgs(acme.key))).toEqual([404, 'not_found', []])
  })
})

describe('an update of the profile', () => {
  test('changes only the fields that are set, and only the account', async () => {
    const member = await createMember(service, acme.id, 1)
    const { user_id } = await createMobileUser(service, { key: acme.key, platform: 'ios' })
    const changes = { first_name: 'Augusta', imei: '35 209900 176148 1', device_name: 'New phone' }
    const { account } = dataOf(await update({ user_id, ...changes }, acme.key))
    expect(account).toMatchObject({
      ...changes,
      imei: '352099001761481',
      last_name: 'Lovelace',
      platform: 'ios',
    })
    expect(dataOf(await service.call('GET', `/organization/${acme.id}/user/${user_id}`))).toEqual(member)
    expect(await auditOf(service, acme.id)).toContainEqual([
      'updateProfile',
      `user:${user_id}`,
      ['first_name', 'imei', 'device_name'],
    ])
  })

  test.each([
    [{}, 'nothing_to_change', []],
    [{ imei: '352099001761482' }, 'invalid_field', ['imei']],
    [{ email: 'x' }, 'invalid_field', ['email']],
    [{ first_name: ' ' }, 'invalid_field', ['first_name']],
    [{ first_name: 'Bob', country_code: '+49' }, 'invalid_field', ['mobile']],
  ])('with %j is refused and changes nothing', async (wrong, code, fields) => {
    await createMobileUser(service)
    const before = await contentsOf(service)
    expect(refusal(await update({ mobile, ...wrong }))).toEqual([422, code, fields])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('of a person without an account is a 404, even for a member', async () => {
    const { id } = await createMember(service, acme.id, 1)
    expect(refusal(await update({ user_id: id, first_name: 'X' }))).toEqual([404, 'not_found', []])
  })
})

const mobileTables = async () => {
  const { registrations, mobile_accounts, token_families, refresh_tokens, email_verifications, people } =
    await contentsOf(service)
  return [registrations, mobile_accounts, token_families, refresh_tokens, email_verifications, people].map(
    (rows) => rows!.length,
  )
}

const forget = () =>
  service.storage.write((db) => deleteExpired({ db, keyring: service.keyring }, clock.iso()), { org: 0 })

describe('the data of a person', () => {
  test('stays when only a membership is erased, and goes with the account of that organization', async () => {
    const { user_id } = await createMobileUser(service, { email: ada.email })
    await createMember(service, acme.id, 1)
    const path = `/organization/${acme.id}/delete/user/${user_id}`
    dataOf(await service.call('DELETE', path))
    expect((await get()).status).toBe(200)

    await createMember(service, acme.id, 2)
    const second = await createMobileUser(service, { key: acme.key, mobile: '2025550102', email: ada.email })
    dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${second.user_id}`))
    expect(await mobileTables()).toEqual([0, 1, 1, 1, 1, 1])
  })

  test('goes with a person who registered and never joined', async () => {
    const { user_id } = await createMobileUser(service, { key: acme.key, email: ada.email })
    const other = await createTenant(service, 'other')
    const erase = (orgId: number, key?: string) =>
      service.call('DELETE', `/organization/${orgId}/delete/user/${user_id}`, { key })
    expect(refusal(await erase(other.id, other.key))).toEqual([404, 'not_found', []])
    dataOf(await erase(acme.id, acme.key))
    expect(await mobileTables()).toEqual([0, 0, 0, 0, 0, 0])
    expect(refusal(await erase(acme.id, acme.key))).toEqual([404, 'not_found', []])
  })

  test('goes with the organization whose key registered it', async () => {
    await createMobileUser(service, { key: acme.key, email: ada.email })
    dataOf(await register(service, { key: acme.key, mobile: '2025550103' }))
    dataOf(await send(service, '+12025550103', { key: acme.key }))
    dataOf(await service.call('DELETE', `/organization/${acme.id}/delete`))
    expect(await mobileTables()).toEqual([0, 0, 0, 0, 0, 0])
    const { otps, turns } = await contentsOf(service)
    expect([otps, turns]).toEqual([[], []])
    expect(await service.messages()).toEqual([])
  })

  test('is deleted when it has expired, not before', async () => {
    await createMobileUser(service, { email: ada.email })
    dataOf(await register(service, { mobile: '2025550103' }))
    const before = await contentsOf(service)
    await forget()
    expect(await contentsOf(service)).toEqual(before)
    clock.tick(day)
    await forget()
    expect(await mobileTables()).toEqual([0, 1, 1, 1, 0, 1])
    expect((await contentsOf(service)).otps).toEqual([])
    expect((await contentsOf(service)).turns).toEqual([])
    clock.tick(29 * day)
    await forget()
    expect(await mobileTables()).toEqual([0, 1, 0, 0, 0, 1])
  })
})
