import { beforeEach, expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import { createMember, dataOf, fence, refusal, slot } from '../fixtures.ts'

installHooks()

let user: { id: string; org_id: number }
beforeEach(async () => {
  user = await createMember(service, acme.id, 1)
})

const get = (path: string) => service.call('GET', path)
const post = (path: string, body: object) => service.call('POST', path, { body })

const text = expect.stringMatching(/^\d+$/)

test('answers text for every id but those of organizations and geo-fences', async () => {
  expect(user).toMatchObject({ id: text, org_id: acme.id })
  expect(acme.id).toEqual(expect.any(Number))
  const organization = `/organization/${acme.id}`
  expect(dataOf(await get(`${organization}/users`))).toMatchObject([{ id: user.id }])
  expect(dataOf(await post(`${organization}/create/geo-fence`, fence))).toMatchObject({
    id: expect.any(Number),
    org_id: acme.id,
  })
  expect(dataOf(await post(`${organization}/timeslots/add`, slot))).toMatchObject({
    id: text,
    org_id: acme.id,
  })
  expect(dataOf(await post(`${organization}/create/auth-code`, { label: 'x' })).id).toEqual(text)
  const { api_keys } = dataOf(await get(`${organization}/get-org-api-creds`))
  expect(api_keys).toMatchObject([{ id: acme.keyId, org_id: acme.id }])
  const registered = { first_name: 'Ada', last_name: 'Lovelace', country_code: '+1', mobile: '2025550109' }
  dataOf(await post('/wp/register/mobile/user', registered))
  expect(dataOf(await post('/getuser', { mobile: '+12025550109' })).user_id).toEqual(text)
})

test.each([
  ['text', String],
  ['a number', Number],
])('accepts the id of a user in a body as %s', async (_, as) => {
  const user_id = as(user.id)
  expect(dataOf(await post('/make-admin', { org_id: acme.id, user_id })).role).toBe('admin')
})

test('accepts the id of an organization in a body as a number and as text', async () => {
  for (const org_id of [acme.id, String(acme.id)])
    expect(dataOf(await post('/make-admin', { org_id, user_id: user.id })).role).toBe('admin')
})

test.each(['usr_8f3', '01', '1.0', '1e0', '0', '-1', '9'.repeat(40)])(
  'finds nobody under the id %s',
  async (id) => {
    expect(refusal(await get(`/organization/${acme.id}/user/${id}`))).toEqual([404, 'not_found', []])
    const body = { org_id: acme.id, user_id: id }
    expect(refusal(await post('/make-admin', body))).toEqual([404, 'not_found', []])
  },
)

test.each([[1.5], [true], [['1']], [{}]])('refuses %j as an id', async (user_id) => {
  const answer = await post('/make-admin', { org_id: acme.id, user_id })
  expect(refusal(answer)).toEqual([422, 'invalid_field', ['user_id']])
})

const addSlot = () =>
  service.call('POST', `/organization/${acme.id}/timeslots/add`, {
    body: slot,
    headers: { 'idempotency-key': 'k1' },
  })

test('answers a repeat with the same text', async () => {
  const [first, again] = [dataOf(await addSlot()), dataOf(await addSlot())]
  expect(again).toEqual(first)
  expect(again.id).toEqual(text)
})
