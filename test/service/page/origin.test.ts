import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { assert } from '../../../src/client/software-authenticator.ts'
import { challengeOf } from '../../../src/receipt/context.ts'
import { post } from '../approver.ts'
import { createTenant, dataOf, fence, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { holdCalls } from '../rule-fixture.ts'
import { callTools, connect } from '../mcp/oauth-client.ts'
import { createPhone, type Phone, readInbox, site } from './phone.ts'

let service: TestService
let acme: { id: number; key: string }
let ada: Phone

beforeEach(async () => {
  service = await startTestService({ entry: { trustedProxy: ['10.0.0.1'] } })
  acme = await createTenant(service, 'acme')
  ada = await createPhone(service, acme.id, 1)
})
afterEach(() => service.close())

const request = async (more: object = {}, from?: string, headers = {}) =>
  dataOf(
    await service.call('POST', '/svc/v1/approvals', {
      key: acme.key,
      body: { action: 'Deploy 4.2', approvers: [ada.mobile], ...more },
      headers,
      from,
    }),
  )
const pending = async () => (await readInbox(service, ada)).requests
const originOfFirst = async () => (await pending())[0].origin
const setPolicy = async (policy: object): Promise<void> =>
  dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy } }))

const firstTimes = async (phone = ada) =>
  (await readInbox(service, phone)).requests.map((one: { first_time?: true }) => one.first_time === true)

test('a request that another program has changed is not shown', async () => {
  const { request_id } = await request()
  const [before] = await pending()
  await service.runSql('UPDATE approvals SET subject_data = ? WHERE request_id = ?', [
    '{"text":"Read a file"}',
    request_id,
  ])
  expect(await pending()).toEqual([])
  await service.runSql('UPDATE approvals SET subject_data = ? WHERE request_id = ?', [
    JSON.stringify(before.subject.data),
    request_id,
  ])
  expect(await pending()).toHaveLength(1)
})

describe('the first request of a key to a person', () => {
  test('is marked, and no later one, also after a rotation of the key', async () => {
    await request()
    await request()
    const keys = dataOf(await service.call('GET', '/svc/v1/keys')) as { id: number; org_id: number }[]
    const { id } = keys.find((one) => one.org_id === acme.id)!
    const { key } = dataOf(await service.call('POST', `/svc/v1/keys/${id}/rotate`, { body: {} }))
    acme.key = key
    await request()
    expect(await firstTimes()).toEqual([true, false, false])
  })

  test('is marked for each key and each person', async () => {
    await request()
    const grace = await createPhone(service, acme.id, 2)
    await request({ approvers: [grace.mobile] })
    const body = { name: 'other', org_id: acme.id, scopes: ['ask'] }
    const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    acme.key = key
    await request()
    expect([await firstTimes(), await firstTimes(grace)]).toEqual([[true, true], [true]])
  })

  test('is not taken from a ballot that another program wrote', async () => {
    await request()
    const body = { name: 'other', org_id: acme.id, scopes: ['ask'] }
    const { id, key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    await service.runSql(`UPDATE ballots SET first_asked_by = ${id}`)
    acme.key = key
    await request()
    expect(await firstTimes()).toEqual([true])
  })

  test('cannot be made a later one by another program', async () => {
    await request()
    const [{ request_id, contexts }] = await pending()
    await service.runSql('UPDATE ballots SET first_asked_by = NULL')
    const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
    const response = assert(ada.key, { challenge, ...site })
    expect(await pending()).toEqual([])
    const answer = await post(service, request_id, { decision: 'approve', response })
    expect(refusal(answer)).toEqual([403, 'request_not_authentic', []])
  })
})

describe('the origin of a request', () => {
  test('keeps the verified key apart from the name that the requester claims', async () => {
    await request({ requester: 'key "root"' }, '203.0.113.7')
    expect(await originOfFirst()).toEqual({
      id: expect.stringMatching(/^\d+$/),
      credential: { kind: 'key', name: 'of acme' },
      claimed_name: 'key "root"',
      address: '203.0.113.7',
      network: null,
      via: 'api',
    })
  })

  test('has no claimed name if the requester claims none', async () => {
    await request()
    expect(await originOfFirst()).toMatchObject({ claimed_name: null, address: null })
  })

  test('names the agent, who connected it, and the tool server', async () => {
    const token = await connect(service, ada)
    const params = { name: 'request_approval_async', arguments: { action: 'Deploy' } }
    await callTools(service, token, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    expect(await originOfFirst()).toMatchObject({
      credential: { kind: 'agent', name: 'Coder', owner: { user_id: ada.user, confirmed: true } },
      address: '127.0.0.1',
      via: 'tools',
    })
  })

  test('says that a rule requires the approval of a call', async () => {
    await holdCalls(service, acme.id, ['geofence create'], [ada.user])
    const path = `/organization/${acme.id}/create/geo-fence`
    const refused = await service.call('POST', path, { body: fence, key: acme.key, from: '203.0.113.7' })
    expect(refusal(refused)).toEqual([403, 'approval_required', []])
    expect(await originOfFirst()).toMatchObject({ via: 'rule', address: '203.0.113.7' })
  })

  test('names the network of the organization that contains the address', async () => {
    await setPolicy({ ip_allow: ['198.51.100.0/24', '203.0.113.0/24'] })
    await request({}, '203.0.113.7')
    expect(await originOfFirst()).toMatchObject({ network: '203.0.113.0/24' })
  })

  test('has the address that a trusted proxy reports, and no other forwarded address', async () => {
    const forwarded = { 'x-forwarded-for': '203.0.113.7' }
    await request({}, '10.0.0.1', forwarded)
    await request({}, '10.0.0.2', forwarded)
    expect((await pending()).map((one: { origin: object }) => one.origin)).toMatchObject([
      { address: '203.0.113.7' },
      { address: '10.0.0.2' },
    ])
  })

  test.each(["asked_from = '198.51.100.1'", 'asked_from = NULL', "asked_via = 'tools'"])(
    'cannot be changed by another program: %s',
    async (set) => {
      await request({}, '203.0.113.7')
      const [{ request_id, contexts }] = await pending()
      await service.runSql(`UPDATE approvals SET ${set}`, [])
      const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
      const response = assert(ada.key, { challenge, ...site })
      const answer = await post(service, request_id, { decision: 'approve', response })
      expect(refusal(answer)).toEqual([403, 'request_not_authentic', []])
    },
  )
})
