import { expect, test } from 'vitest'
import { assert } from '../../../src/client/software-authenticator.ts'
import { challengeOf } from '../../../src/receipt/context.ts'
import { ask, decide as approve, post } from '../approver.ts'
import { minute } from '../clock.ts'
import { createTenant, dataOf, fence, refusal } from '../fixtures.ts'
import { createPhone, fromPhone, type Phone, readInbox, site } from './phone.ts'
import { acme, ada, clock, installHooks, service } from './visit.ts'

installHooks()

const request = async (more: object = {}): Promise<{ request_id: string; number: string | null }> =>
  dataOf(await ask(service, ada, more, acme.key))

const outcome = (id: string, phone: Phone = ada) =>
  fromPhone(service, 'GET', `requests/${id}`, { cookie: phone.cookie })

const newest = async (phone: Phone) =>
  dataOf(await fromPhone(service, 'GET', 'decisions', { cookie: phone.cookie })).decisions[0]

const decide = async (id: string, decision: 'approve' | 'deny', more: object = {}) => {
  const { requests } = await readInbox(service, ada)
  const { contexts } = requests.find((one: { request_id: string }) => one.request_id === id)
  const challenge = challengeOf(new Uint8Array(Buffer.from(contexts[decision], 'base64url')))
  return post(service, id, { decision, response: assert(ada.key, { challenge, ...site }), ...more })
}

test('a pending request has no end', async () => {
  const { request_id } = await request({ action: 'Deploy 4.2' })
  expect(dataOf(await outcome(request_id))).toEqual({
    request_id,
    headline: 'Deploy 4.2',
    status: 'pending',
    ended_by: null,
    ended_at: null,
    device: null,
    refused: [],
    detail: null,
  })
})

test('each of several people reads why they are asked, and for whom it waits', async () => {
  const bob = await createPhone(service, acme.id, 2, { first_name: 'Bob' })
  const path = `/svc/v1/organizations/${acme.id}/groups`
  dataOf(await service.call('POST', path, { body: { name: 'sre', members: [ada.user, bob.user] } }))
  const body = { action: 'Deploy 4.2', approvers: ['@sre:2'] }
  const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { key: acme.key, body }))
  const before = { groups: ['sre'], approved: 0, needed: 2, waiting: ['Bob Lovelace'] }
  expect((await readInbox(service, ada)).requests[0].progress).toEqual(before)
  dataOf(await decide(request_id, 'approve'))
  expect(dataOf(await outcome(request_id)).progress).toEqual({ ...before, approved: 1 })
  expect((await readInbox(service, bob)).requests[0].progress).toMatchObject({ approved: 1, waiting: [] })
})

test.each([
  ['approve', 'approved'],
  ['deny', 'denied'],
] as const)('%s was decided by the person, on a device', async (decision, status) => {
  const { request_id } = await request()
  clock.tick(minute)
  dataOf(await decide(request_id, decision))
  expect(dataOf(await outcome(request_id))).toMatchObject({
    status,
    ended_by: 'person',
    ended_at: clock.iso(),
    device: { id: ada.device, name: expect.any(String) },
  })
})

test('an approval that the rules refused names the rules', async () => {
  const { request_id } = await request()
  dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
  expect(refusal(await decide(request_id, 'approve'))).toEqual([403, 'denied', []])
  expect(dataOf(await outcome(request_id))).toMatchObject({
    status: 'denied',
    ended_by: 'factors',
    refused: [{ factor: 'location', result: 'FAIL' }],
  })
})

test('two wrong numbers are not the decision of a person', async () => {
  const { request_id, number } = await request({ number: true })
  const wrong = number === '11' ? '22' : '11'
  for (let tries = 0; tries < 2; tries++) await decide(request_id, 'approve', { number: wrong })
  expect(dataOf(await outcome(request_id))).toMatchObject({ status: 'denied', ended_by: 'number' })
})

test.each<[string, string, (id: string) => unknown]>([
  ['time', 'the time runs out', () => clock.tick(6 * minute)],
  [
    'requester',
    'the requester withdraws it',
    (id) => service.call('POST', `/svc/v1/approvals/${id}/withdraw`, { key: acme.key, body: {} }),
  ],
  ['key', 'its key is revoked', () => service.call('DELETE', `/svc/v1/keys/${keyId}`)],
])('ended by %s: %s', async (ended_by, _, end) => {
  keyId = dataOf(await service.call('GET', '/svc/v1/keys', {})).find(
    (one: { org_id: number | null }) => one.org_id === acme.id,
  ).id
  const { request_id } = await request()
  await end(request_id)
  expect(dataOf(await outcome(request_id))).toMatchObject({ status: 'expired', ended_by, device: null })
})
let keyId: string

test('is the same 404 for what does not exist and what somebody else was asked', async () => {
  const { request_id } = await request()
  const bob = await createPhone(service, acme.id, 2)
  const globex = await createTenant(service, 'globex')
  const eve = await createPhone(service, globex.id, 3)
  for (const phone of [bob, eve]) {
    expect(refusal(await outcome(request_id, phone))).toEqual([404, 'not_found', []])
    expect(refusal(await outcome('apr_unknown', phone))).toEqual([404, 'not_found', []])
  }
  expect(refusal(await fromPhone(service, 'GET', `requests/${request_id}`))[0]).toBe(401)
})

test('a pending request says that a wrong number was typed, after an answer that was lost', async () => {
  const { request_id, number } = await request({ number: true })
  expect(dataOf(await outcome(request_id)).number_missed).toBe(false)
  const wrong = number === '11' ? '12' : '11'
  expect(refusal(await decide(request_id, 'approve', { number: wrong }))[1]).toBe('wrong_number')
  expect(dataOf(await outcome(request_id)).number_missed).toBe(true)
  const { requests } = await readInbox(service, ada)
  expect(requests).toMatchObject([{ number_missed: true }])
})

test('an approval of two people names whoever else approved it, and what the reader answered', async () => {
  const bob = await createPhone(service, acme.id, 2, { first_name: 'Bob' })
  const path = `/svc/v1/organizations/${acme.id}/groups`
  const eve = await createPhone(service, acme.id, 3, { first_name: 'Eve' })
  const members = [ada.user, bob.user, eve.user]
  dataOf(await service.call('POST', path, { body: { name: 'sre', members } }))
  const body = { action: 'Deploy 4.2', approvers: ['@sre:2'] }
  const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { key: acme.key, body }))
  for (const { key } of [ada, bob]) dataOf(await approve(service, request_id, key, { decision: 'approve' }))
  expect(await newest(ada)).toMatchObject({ by: ['Bob Lovelace'], answer: 'approved' })
  expect(await newest(bob)).not.toHaveProperty('by')
  expect(await newest(eve)).toMatchObject({ by: ['Ada Lovelace', 'Bob Lovelace'] })
  expect(await newest(eve)).not.toHaveProperty('answer')
})

test('an approval that the rules refused names whose it was to the others', async () => {
  const bob = await createPhone(service, acme.id, 2, { first_name: 'Bob' })
  const body = { action: 'Deploy 4.2', approvers: [ada.mobile, bob.mobile] }
  const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { key: acme.key, body }))
  dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
  expect(refusal(await decide(request_id, 'approve'))).toEqual([403, 'denied', []])
  expect(await newest(bob)).toMatchObject({ ended_by: 'factors', by: ['Ada Lovelace'] })
  expect(await newest(ada)).not.toHaveProperty('by')
})
