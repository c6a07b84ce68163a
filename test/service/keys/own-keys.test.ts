import { beforeEach, describe, expect, test } from 'vitest'
import { enroll } from '../approver.ts'
import { createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { acme, ada, clock, installHooks, service } from '../mcp/oauth-stage.ts'
import { createAdministrator, createConsented, type Keys, signIn, whoIs } from '../mcp/terminal-stage.ts'
import type { Phone } from '../page/phone.ts'
import { createRule } from '../rule-fixture.ts'

installHooks()

let grace: Phone
let terminal: Keys
beforeEach(async () => {
  grace = await createAdministrator(2)
  terminal = await signIn(grace)
})

const list = (key: string, query = 'mine=true') => service.call('GET', `/svc/v1/keys?${query}`, { key })
const namesOf = (rows: { name: string }[]): string[] => rows.map(({ name }) => name)
const createKey = async (fields: object) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { scopes: ['ask'], ...fields } }))

const both = ['svc on ada-laptop', 'svc on ada-laptop, management']

describe('the keys of the person who is signed in', () => {
  test('are those of their terminal and those that they confirmed, with either key', async () => {
    await createConsented(grace, terminal.management_token!, ['read'])
    await signIn(ada)
    await createKey({ name: 'claimed', org_id: acme.id, owner_user_id: grace.user })
    for (const key of [terminal.access_token, terminal.management_token!])
      expect(namesOf(dataOf(await list(key)))).toEqual([...both, 'read'])
    expect(dataOf(await list(terminal.management_token!, '')).length).toBeGreaterThan(3)
  })

  test('are listed to a member who only asks, and no others', async () => {
    const { access_token } = await signIn(ada)
    const mine = dataOf(await list(access_token))
    expect(mine).toMatchObject([{ owner_user_id: ada.user, scopes: ['ask'] }])
    for (const query of ['', 'mine=false'])
      expect(refusal(await list(access_token, query))).toEqual([403, 'scope_missing', []])
  })

  test('are not those that the same person has in another organization', async () => {
    const other = await createTenant(service, 'other')
    const there = await createMember(service, other.id, 2)
    expect(there.id).toBe(grace.user)
    const { id } = await createKey({ name: 'elsewhere', org_id: other.id, owner_user_id: there.id })
    await service.runSql(`UPDATE api_keys SET owner_confirmed_at = created_at WHERE id = ${id}`)
    expect(namesOf(dataOf(await list(terminal.management_token!)))).toEqual(both)
    expect(refusal(await list(terminal.management_token!, `mine=true&org_id=${other.id}`))[0]).toBe(404)
  })
})

test('a list says which keys ended with a device, or with a role', async () => {
  const ends = async () =>
    dataOf(await service.call('GET', `/svc/v1/keys?org_id=${acme.id}`)).flatMap(
      ({ name, owner_user_id, ended }: { name: string; owner_user_id: string; ended: unknown }) =>
        owner_user_id === grace.user ? [[name, ended]] : [],
    )
  expect(await ends()).toEqual(both.map((name) => [name, null]))
  const path = `/organization/${acme.id}/update/user/${grace.user}`
  dataOf(await service.call('PUT', path, { body: { role: 'member' } }))
  expect(await ends()).toEqual([
    [both[0], null],
    [both[1], 'signed_out'],
  ])
  dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${grace.device}`))
  expect(await ends()).toEqual(both.map((name) => [name, 'signed_out']))
  expect((await list(terminal.access_token)).status).toBe(401)
})

test.each([
  ['nobody', false, 'Sign in: svc profile login'],
  ['a claim', true, /^Sign in: svc profile login\. Or let its owner confirm it: svc key confirm-owner \d+$/],
])('a key that belongs to %s learns how to sign in', async (_, owned, hint) => {
  const owner = owned ? { owner_user_id: grace.user } : {}
  const { key } = await createKey({ name: 'ci', org_id: acme.id, ...owner })
  const answer = await list(key)
  expect(refusal(answer)).toEqual([409, 'key_without_owner', []])
  expect(answer.body.data.hint).toMatch(hint)
  expect(refusal(await list(service.operatorKey))[1]).toBe('key_without_owner')
})

const created = async (name: string, key: string) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { key, body: { name, scopes: ['keys', 'people'] } }))

test('keys that a key of a person created work only while that person is an administrator', async () => {
  const lasting = await createConsented(grace, terminal.management_token!, ['keys', 'people'])
  const child = await created('child', lasting)
  const grandchild = await created('grandchild', child.key)
  const rotated = dataOf(
    await service.call('POST', `/svc/v1/keys/${child.id}/rotate`, { key: child.key, body: {} }),
  )
  const keys = [lasting, child.key, grandchild.key, rotated.key]
  const work = async () => (await Promise.all(keys.map(whoIs))).map(({ status }) => status)
  const setRole = async (role: string) =>
    dataOf(
      await service.call('PUT', `/organization/${acme.id}/update/user/${grace.user}`, { body: { role } }),
    )
  expect(await work()).toEqual([200, 200, 200, 200])
  await setRole('member')
  expect(await work()).toEqual([401, 401, 401, 401])
  await setRole('admin')
  expect(await work()).toEqual([200, 200, 200, 200])
})

test('a key that outlives the terminal is among what the device of its person added, and ends with those it created', async () => {
  const lasting = await createConsented(grace, terminal.management_token!, ['keys', 'people'])
  const body = { name: 'child', scopes: ['people'] }
  const child = dataOf(await service.call('POST', '/svc/v1/keys', { key: lasting, body })).key
  const device = `/svc/v1/organizations/${acme.id}/devices/${grace.device}`
  const { remaining } = dataOf(await service.call('DELETE', device))
  expect(namesOf(remaining.agents)).toEqual(['keys people'])
  expect((await whoIs(child)).status).toBe(200)
  const { ended } = dataOf(await service.call('DELETE', `${device}?with_added=true`))
  expect(namesOf(ended.agents)).toEqual(['keys people'])
  expect([(await whoIs(lasting)).status, (await whoIs(child)).status]).toEqual([401, 401])
})

test('whoever appointed a person last is behind their keys, too', async () => {
  const lasting = await createConsented(grace, terminal.management_token!, ['people', 'rules'])
  const boss = await createAdministrator(4)
  const { rule } = await createRule(service, acme.id, { members: [ada.user], match: { type: 'text' } })
  dataOf(
    await service.call('PUT', `/organization/${acme.id}/update/user/${grace.user}`, {
      body: { role: 'member' },
    }),
  )
  clock.tick(1000)
  const again = { org_id: acme.id, user_id: grace.user }
  dataOf(await service.call('POST', '/make-admin', { key: acme.key, body: again }))
  const mal = await createMember(service, acme.id, 5)
  await enroll(service, acme.id, mal.id, 'ES256', acme.key)
  dataOf(await service.call('POST', '/make-admin', { key: acme.key, body: { ...again, user_id: mal.id } }))
  const path = `/svc/v1/organizations/${acme.id}/rules/${rule}`
  const { lines } = (await service.call('DELETE', path, { key: lasting })).body.data.request
  const asked = new Set<string>(lines.at(-1).people.map(({ user_id }: { user_id: string }) => user_id))
  expect([asked.has(boss.user), asked.has(mal.id)]).toEqual([true, false])
})
