import { beforeEach, describe, expect, test } from 'vitest'
import { type Approver, decide, enroll } from '../approver.ts'
import { auditOf, createMember, dataOf, refusal, refusedWithoutTrace, twinText } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { createPhone, fromPhone } from '../page/phone.ts'
import { subscribeBrowser } from '../page/push-service.ts'
import {
  acme,
  ada,
  alan,
  create,
  grace,
  groupsAt,
  installHooks,
  membersOf,
  remove,
  service,
  show,
} from './groups-stage.ts'

installHooks()

let eve: Approver
let rules: string

const createAdmin = async (n: number, by?: string): Promise<Approver> => {
  const fields = { ...(await createMember(service, acme.id, n)) }
  const body = { org_id: acme.id, user_id: fields.id }
  dataOf(await service.call('POST', '/make-admin', { key: by, body }))
  return {
    id: fields.id,
    mobile: fields.mobile_e164,
    ...(await enroll(service, acme.id, fields.id, 'ES256', by)),
  }
}
const createKey = async (name: string): Promise<string> => {
  const body = { name, org_id: acme.id, scopes: ['rules', 'ask'] }
  return dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
}
beforeEach(async () => {
  rules = await createKey('rules')
})

const call = (method: string, path: string, body?: object, { key = rules, approval = '' } = {}) =>
  service.call(method, `${groupsAt()}${path}`, {
    key,
    body,
    ...(approval && { headers: { 'x-svc-approval': approval } }),
  })
const createSre = (more = {}) => call('POST', '', { name: 'sre', members: [ada.id, grace.id] }, more)
const addAlan = (more = {}) => call('POST', '/sre/members', { user_id: alan.id }, more)

/** The request that a refusal names, and whom it asks, line by line. */
const requestOf = ({ status, body }: Answer): { id: string; asked: string[][] } => {
  expect([status, body.data.code]).toEqual([403, 'approval_required'])
  const { request_id, lines } = body.data.request
  const asked = lines.map(({ people }: { people: { user_id: string }[] }) =>
    people.map(({ user_id }) => user_id),
  )
  return { id: request_id, asked }
}
const approve = async (id: string, ...people: Approver[]): Promise<void> => {
  for (const { key } of people) dataOf(await decide(service, id, key))
}
const tooFew = [409, 'not_enough_approvers', []]

describe('a new group', () => {
  test('needs one administrator, who reads who is in it', async () => {
    eve = await createAdmin(5)
    const { id, asked } = requestOf(await createSre())
    expect(asked).toEqual([[eve.id]])
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${id}`))
    expect(subject.data).toEqual({
      organization: { id: String(acme.id), slug: 'acme' },
      operation: 'createGroup',
      body: { name: 'sre', members: [twinText(ada.id), twinText(grace.id)] },
    })
    expect(refusal(await createSre({ approval: id }))[0]).toBeGreaterThanOrEqual(400)
    await approve(id, eve)
    expect(dataOf(await createSre({ approval: id })).members).toEqual([ada.id, grace.id])
    expect((await auditOf(service, acme.id)).at(-1)?.[2]).toContain(`approval:${id}`)
  })

  test('is read as it will be, each person once', async () => {
    eve = await createAdmin(5)
    const { id } = requestOf(await call('POST', '', { name: 'sre', members: [ada.id, ada.id, grace.id] }, {}))
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${id}`))
    expect(subject.data.body.members).toEqual([twinText(ada.id), twinText(grace.id)])
  })

  test('is not approved with the request of another key, nor twice', async () => {
    eve = await createAdmin(5)
    const { id } = requestOf(await createSre())
    await approve(id, eve)
    const other = await createKey('other')
    expect(refusal(await createSre({ approval: id, key: other }))[0]).toBe(422)
    dataOf(await createSre({ approval: id }))
    const another = { name: 'dba', members: [ada.id] }
    expect(refusal(await call('POST', '', another, { approval: id }))[0]).toBeGreaterThanOrEqual(400)
    expect(refusal(await show('dba'))[0]).toBe(404)
  })

  test('is not approved with a request that names whom it asks', async () => {
    eve = await createAdmin(5)
    const { id } = requestOf(await createSre())
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${id}`))
    const { type, data, digest } = subject
    const body = { subject: { type, data, digest }, approvers: [eve.mobile], org_id: acme.id }
    const named = dataOf(await service.call('POST', '/svc/v1/approvals', { key: rules, body })).request_id
    await approve(named, eve)
    expect(refusal(await createSre({ approval: named }))).toEqual([403, 'approval_required', []])
    expect(refusal(await show('sre'))[0]).toBe(404)
  })

  test('is only for the operator where no administrator has a device', async () => {
    expect(await refusedWithoutTrace(service, () => createSre())).toEqual(tooFew)
    dataOf(await create('sre', [ada.id]))
  })

  test('is not approved by an administrator whom the calling key made or enrolled', async () => {
    await createAdmin(5, acme.key)
    expect(await refusedWithoutTrace(service, () => createSre({ key: acme.key }))).toEqual(tooFew)
  })

  test.each([
    ['a key that the same key created', ['ask', 'rules']],
    ['a key with all scopes that the same key created', ['all']],
  ])('is not approved by an administrator behind %s', async (_, scopes) => {
    await createAdmin(5, acme.key)
    const body = { name: 'second', org_id: acme.id, scopes }
    const second = dataOf(await service.call('POST', '/svc/v1/keys', { key: acme.key, body })).key
    expect(await refusedWithoutTrace(service, () => createSre({ key: second }))).toEqual(tooFew)
  })
})

describe('a change of a group', () => {
  beforeEach(async () => {
    eve = await createAdmin(5)
    dataOf(await create('sre', [ada.id, grace.id]))
  })

  test('needs one of its members and an administrator', async () => {
    const { id, asked } = requestOf(await addAlan())
    expect(asked).toEqual([[ada.id, grace.id], [eve.id]])
    await approve(id, eve)
    expect(refusal(await addAlan({ approval: id }))[0]).toBeGreaterThanOrEqual(400)
    await approve(id, grace)
    expect(dataOf(await addAlan({ approval: id })).members).toEqual([ada.id, grace.id, alan.id])
  })

  test('shows its members before and after', async () => {
    const { id } = requestOf(await addAlan())
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${id}`))
    const [first, second, third] = [ada, grace, alan].map(({ id }) => twinText(id))
    expect(subject.data).toMatchObject({
      body: { name: 'sre', members: [first, second, third] },
      before: { members: [first, second] },
    })
  })

  test('is approved without the person whom it takes out', async () => {
    const { id, asked } = requestOf(await call('DELETE', `/sre/members/${ada.id}`))
    expect(asked).toEqual([[grace.id], [eve.id]])
    await approve(id, grace, eve)
    dataOf(await call('DELETE', `/sre/members/${ada.id}`, undefined, { approval: id }))
    expect(await membersOf('sre')).toEqual([grace.id])
  })

  test('is made only while the group is as the approvers saw it', async () => {
    const { id } = requestOf(await addAlan())
    await approve(id, grace, eve)
    dataOf(await remove('sre', ada.id))
    expect(refusal(await addAlan({ approval: id }))[0]).toBeGreaterThanOrEqual(400)
    expect(await membersOf('sre')).toEqual([grace.id])
  })

  test('is not made after a denial', async () => {
    const { id } = requestOf(await call('DELETE', '/sre'))
    await approve(id, eve)
    dataOf(await decide(service, id, grace.key, { decision: 'deny' }))
    expect(refusal(await call('DELETE', '/sre', undefined, { approval: id }))[0]).toBeGreaterThanOrEqual(400)
    expect(await membersOf('sre')).toEqual([ada.id, grace.id])
  })

  test('is only for the operator where one person would be both', async () => {
    dataOf(await create('solo', [eve.id]))
    const body = { user_id: alan.id }
    expect(await refusedWithoutTrace(service, () => call('POST', '/solo/members', body))).toEqual(tooFew)
  })

  test('is told to its members and to the administrators, also if the operator makes it', async () => {
    const sent = (await service.messages()).filter(({ kind }) => kind === 'group')
    expect(sent.map(({ to }) => to).toSorted()).toEqual([
      'user1@acme.example',
      'user2@acme.example',
      'user5@acme.example',
    ])
    dataOf(await remove('sre', ada.id))
    const later = (await service.messages()).filter(({ kind }) => kind === 'group').slice(sent.length)
    expect(later.map(({ to }) => to)).toContain('user1@acme.example')
  })

  test('is told by push to the phones of those concerned, without the name of the group', async () => {
    const katherine = await createPhone(service, acme.id, 6)
    const body = subscribeBrowser('https://push.example.com/x').subscription
    dataOf(await fromPhone(service, 'POST', 'push', { cookie: katherine.cookie, body }))
    dataOf(await create('phones', [katherine.user]))
    const pushed = (await service.messages()).filter(
      ({ kind, channel }) => kind === 'group' && channel === 'push',
    )
    expect(pushed).toMatchObject([{ to: katherine.device, text: expect.any(String) }])
    expect(JSON.parse(pushed[0]!.text)).toEqual({ notice: 'group', organization: 'acme' })
  })
})
