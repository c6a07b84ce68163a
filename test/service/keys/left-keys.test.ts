import { beforeEach, describe, expect, test } from 'vitest'
import { day } from '../clock.ts'
import { createMember, dataOf, refusal } from '../fixtures.ts'
import { acme, ada, clock, installHooks, service } from '../mcp/oauth-stage.ts'
import { createAdministrator, createConsented, type Keys, signIn, whoIs } from '../mcp/terminal-stage.ts'
import { createPhone, type Phone } from '../page/phone.ts'
import { at, holdCalls } from '../rule-fixture.ts'

installHooks()

let grace: Phone
let terminal: Keys
beforeEach(async () => {
  await createAdministrator(3)
  grace = await createAdministrator(2)
  terminal = await signIn(grace)
})

const consented = (...scopes: string[]) => createConsented(grace, terminal.management_token!, scopes)
const createKey = async (body: object, key?: string) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { key, body: { org_id: acme.id, ...body } }))
const hold = async () =>
  dataOf(await service.call('POST', `/organization/${acme.id}/user/${grace.user}/pending`))
const remove = async () =>
  dataOf(
    await service.call('POST', '/organization/remove/user', {
      body: { org_id: acme.id, user_id: grace.user },
    }),
  )
const erase = async () => {
  const answer = await service.call('DELETE', `/organization/${acme.id}/delete/user/${grace.user}`)
  expect(answer.status).toBe(200)
}
const statusOf = async (key: string) => (await whoIs(key)).status
const recordOf = async (key: string) => dataOf(await whoIs(key))
const later = (days: number): string => new Date(clock.now().getTime() + days * day).toISOString()

describe.each([
  ['removed', remove],
  ['deleted', erase],
])('when a person is %s', (_, leave) => {
  test('the keys that they confirmed work for 30 more days, and are marked', async () => {
    const keys = [await consented('ask'), await consented('keys', 'people')]
    const [left, end] = [later(0), later(30)]
    await leave()
    for (const key of keys)
      expect(await recordOf(key)).toMatchObject({ owner_left_at: left, expires_at: end })
    const rows = dataOf(await service.call('GET', `/svc/v1/keys?org_id=${acme.id}`))
    expect(rows.filter(({ owner_left_at }: { owner_left_at: string | null }) => owner_left_at)).toHaveLength(
      2,
    )
    clock.tick(30 * day - 1)
    expect(await Promise.all(keys.map(statusOf))).toEqual([200, 200])
    clock.tick(1)
    for (const key of keys) expect(refusal(await whoIs(key))).toEqual([401, 'key_expired', []])
  })

  test('every other key ends at once', async () => {
    const claimed = await createKey({ name: 'claimed', scopes: ['ask'], owner_user_id: grace.user })
    await leave()
    for (const key of [terminal.access_token, terminal.management_token!, claimed.key])
      expect(await statusOf(key)).toBe(401)
  })

  test('the other administrators are told which keys, and until when', async () => {
    const { id } = await recordOf(await consented('ask'))
    await leave()
    const [told, ...more] = (await service.messages('devices')).filter(({ subject }) =>
      subject?.includes('Keys of a person who left'),
    )
    expect([told, more]).toEqual([expect.objectContaining({ to: 'user3@acme.example' }), []])
    expect(told!.text).toContain(`(user ${grace.user}) is no longer a member.`)
    expect(told!.text).toContain(`so that you can replace them: ${id}. `)
    expect(told!.text).toMatch(/work until \d+ \w+ \d{4} at \d\d:\d\d UTC at the latest/)
  })
})

test.each([
  ['remove', '/organization/remove/user', 'kept_keys'],
  ['pending hold', () => `/organization/${acme.id}/user/${grace.user}/pending`, 'ended_keys'],
] as const)('whoever approves "user %s" reads which keys end', async (operation, path, confirmed) => {
  const kept = await recordOf(await consented('ask'))
  const claimed = await createKey({ name: 'claimed', scopes: ['ask'], owner_user_id: grace.user })
  await holdCalls(service, acme.id, [`user ${operation}`], [ada.user])
  const isRemove = typeof path === 'string'
  const answer = await service.call('POST', isRemove ? path : path(), {
    key: acme.key,
    ...(isRemove && { body: { org_id: acme.id, user_id: grace.user } }),
  })
  const { request_id } = answer.body.data.request
  const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${request_id}`))
  const { body } = subject.data
  expect(body.ended_keys).toContain(`claimed (${claimed.id})`)
  expect(body[confirmed]).toContain(`${kept.name} (${kept.id})`)
  expect(body.kept_keys === undefined).toBe(!isRemove)
})

test('a key that expires before keeps its date, and what it created ends with it', async () => {
  const key = await consented('keys', 'read')
  const soon = await createKey({ name: 'soon', scopes: ['read'], expires_at: later(3) }, key)
  const child = await createKey({ name: 'child', scopes: ['read'] }, key)
  const end = later(30)
  await remove()
  expect(await recordOf(soon.key)).toMatchObject({ owner_left_at: later(0), expires_at: later(3) })
  expect(await recordOf(child.key)).toMatchObject({ owner_left_at: later(0), expires_at: end })
})

test('neither a rotation nor a second goodbye gives a key more time', async () => {
  const key = await consented('keys', 'ask')
  const [left, end] = [later(0), later(30)]
  await remove()
  clock.tick(day)
  const { id } = await recordOf(key)
  const { key: next } = dataOf(
    await service.call('POST', `/svc/v1/keys/${id}/rotate`, { key, body: { overlap_s: 0 } }),
  )
  await erase()
  expect(await recordOf(next)).toMatchObject({ owner_left_at: left, expires_at: end })
})

test('a person who is put on hold takes every key with them', async () => {
  const key = await consented('ask')
  await hold()
  expect(await statusOf(key)).toBe(401)
  await remove()
  expect(await statusOf(key)).toBe(401)
})

test('a key that ended with a role does not come back, whichever secret', async () => {
  const key = await consented('keys')
  const { id } = await recordOf(key)
  const { key: next } = dataOf(await service.call('POST', `/svc/v1/keys/${id}/rotate`, { key, body: {} }))
  const path = `/organization/${acme.id}/update/user/${grace.user}`
  dataOf(await service.call('PUT', path, { body: { role: 'member' } }))
  expect([await statusOf(key), await statusOf(next)]).toEqual([401, 401])
  await remove()
  expect([await statusOf(key), await statusOf(next)]).toEqual([401, 401])
})

test('a key of somebody else below one that goes on ends when they leave, too', async () => {
  const key = await consented('keys', 'ask')
  const { id: owner_user_id } = await createMember(service, acme.id, 5)
  const below = await createKey({ name: 'below', scopes: ['ask'], owner_user_id: Number(owner_user_id) }, key)
  await remove()
  expect(await statusOf(below.key)).toBe(200)
  const path = `/organization/${acme.id}/delete/user/${owner_user_id}`
  expect((await service.call('DELETE', path)).status).toBe(200)
  expect([await statusOf(key), await statusOf(below.key)]).toEqual([200, 401])
})

test('nobody confirmed a key again by becoming a member again', async () => {
  const key = await consented('ask')
  const { user } = await createPhone(service, acme.id, 5)
  const body = { name: 'dba', members: [ada.user, user] }
  dataOf(await service.call('POST', at(acme.id, 'groups'), { body }))
  const rule = { name: 'strict', match: { type: 'text' }, who: ['@dba'], requester: 'confirmed' }
  dataOf(await service.call('POST', at(acme.id, 'rules'), { body: rule }))
  const ask = () => service.call('POST', '/svc/v1/approvals', { key, body: { action: 'deploy' } })
  dataOf(await ask())
  await erase()
  const { id } = await createMember(service, acme.id, 2)
  expect(String(id)).toBe(grace.user)
  expect(refusal(await ask())[1]).toBe('requester_not_confirmed')
})
