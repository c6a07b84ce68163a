import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { Transport } from '../../src/core/transport.ts'
import { networkError } from '../../src/core/network-error.ts'
import { org } from '../../src/contract/org.ts'
import { pendingUser } from '../../src/contract/pending-user.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { cut, json, type Answering } from '../fake-hosted.ts'
import { failure, withHosted } from './hosted.ts'

const read: [Operation, Record<string, unknown>] = [org.listOrganizations, {}]
const write: [Operation, Record<string, unknown>] = [org.createOrganization, { name: 'Acme' }]
const remove: [Operation, Record<string, unknown>] = [org.deleteOrganization, { org_id: 1 }]
const rings: [Operation, Record<string, unknown>] = [
  { ...pendingUser.acceptUser, effect: 'notifies' },
  { org_id: 1, user_id: 7 },
]
const busy = (status: number): Answering => json(status, { status: 'error', message: 'busy' })
const honours = json(200, { ok: true, transport: 'http' }, { 'svc-idempotency': '1' })

test.each([
  ['a read', read, busy(429), 3],
  ['a read', read, busy(502), 3],
  ['a read', read, busy(503), 3],
  ['a read', read, busy(504), 3],
  ['a read', read, cut, 3],
  ['a read', read, busy(500), 1],
  ['a read', read, busy(404), 1],
  ['a write', write, busy(503), 1],
  ['a write', write, busy(429), 1],
  ['a write', write, cut, 1],
  ['a delete', remove, busy(503), 1],
  ['a delete', remove, cut, 1],
  ['a request that notifies a person', rings, busy(503), 1],
  ['a request that notifies a person', rings, cut, 1],
] as const)(
  '%s %#: is sent to a plain service as often as is safe',
  async (_, [operation, input], bad, times) => {
    const { client, service } = await withHosted()
    service.always((request, response) =>
      (request.path === '/health' ? json(200, { ok: true, transport: 'http' }) : bad)(request, response),
    )
    await failure(client.call(operation, input))
    expect(service.seen.filter(({ path }) => path !== '/health')).toHaveLength(times)
  },
)

test.each([
  ['a write', write, busy(503), 3],
  ['a write', write, cut, 3],
  ['a delete', remove, cut, 3],
  ['a write', write, busy(500), 1],
  ['a request that notifies a person', rings, busy(503), 1],
  ['a request that notifies a person', rings, cut, 1],
] as const)(
  '%s %#: has the same key each time for a service that supports Idempotency-Key',
  async (_, [operation, input], bad, times) => {
    const { client, service } = await withHosted()
    service.always((request, response) => (request.path === '/health' ? honours : bad)(request, response))
    await failure(client.call(operation, input))
    const sent = service.seen.filter(({ path }) => path !== '/health')
    expect(sent).toHaveLength(times)
    const keys = new Set(sent.map(({ headers }) => headers['idempotency-key']))
    expect(keys.size).toBe(1)
    expect([...keys][0]).toBeDefined()
  },
)

test('the check whether writes may be repeated sends no key', async () => {
  const { client, service } = await withHosted()
  service.always((request, response) => (request.path === '/health' ? honours : cut)(request, response))
  await failure(client.call(...write))
  const health = service.seen.filter(({ path }) => path === '/health')
  expect(health).toHaveLength(1)
  expect(health[0]!.headers['x-api-key']).toBeUndefined()
})

test('two writes have two idempotency keys', async () => {
  const { client, service } = await withHosted()
  await client.call(...write)
  await client.call(...write)
  expect(new Set(service.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(2)
})

test.each([
  ['a read', read, 3],
  ['a write', write, 3],
  ['a delete', remove, 3],
  ['a request that notifies a person', rings, 1],
] as const)(
  '%s that failed before anything was sent is retried unless it notifies a person',
  async (_, call, times) => {
    let tries = 0
    const refused: Transport = async ({ url }) => {
      tries += 1
      throw networkError(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }), url)
    }
    const { client } = await withHosted({ transport: refused })
    expect(await failure(client.call(...call))).toMatchObject({
      exit: 'unreachable',
      code: 'connection_refused',
    })
    expect(tries).toBe(times)
  },
)

test('a read that succeeds on retry is a success', async () => {
  const { client, service } = await withHosted()
  service.next(busy(503))
  expect((await client.call(...read)).envelope.status).toBe('success')
  expect(service.seen).toHaveLength(2)
})

test.each([
  ['2', [2100, 2200]],
  ['Thu, 01 Jan 2026 00:00:05 GMT', [5100, 5200]],
  ['nonsense', [200, 400]],
  ['31', []],
  ['Thu, 01 Jan 2026 01:00:00 GMT', []],
])('Retry-After: %s is respected up to 30 seconds, never shortened', async (after, waits) => {
  const { client, service, slept } = await withHosted()
  service.always(json(429, { status: 'error', message: 'slow down' }, { 'retry-after': after }))
  expect(await failure(client.call(...read))).toMatchObject({
    exit: 'unreachable',
    hint: expect.stringContaining(after),
  })
  expect(slept).toEqual(waits)
})

test('a port without a listener is named, with a hint', async () => {
  const free = createServer()
  await new Promise<void>((resolve) => void free.listen(0, '127.0.0.1', resolve))
  const { port } = free.address() as AddressInfo
  await new Promise((resolve) => free.close(resolve))
  const { client } = await withHosted({ baseUrl: `http://127.0.0.1:${port}/admin/public/api` })
  const error = await failure(client.call(...read))
  expect(error).toMatchObject({
    exit: 'unreachable',
    code: 'connection_refused',
    hint: expect.stringContaining('svc serve'),
  })
  expect(error.message).toContain(`127.0.0.1:${port}`)
})
