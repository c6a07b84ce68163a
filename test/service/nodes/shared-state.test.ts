import { beforeAll, describe, expect, test } from 'vitest'
import { conflict } from '../../../src/core/refusal.ts'
import { auditByService } from '../../../src/service/call/audit.ts'
import { createTenant, dataOf, ada } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { onPostgres } from '../storage/postgres-databases.ts'
import { installHooks, nodes, onEach } from './nodes.ts'

const sent: string[] = []

describe.runIf(onPostgres())('nodes on one store', () => {
  installHooks({
    adapters: {
      sms: async (_, { id }) => {
        sent.push(id)
        return { state: 'sent' }
      },
    },
  })
  let acme: { id: number; key: string }
  let count = 0
  beforeAll(async () => {
    acme = await createTenant(nodes[0]!, 'acme')
  })

  const createKey = async () =>
    dataOf(
      await nodes[0]!.call('POST', '/svc/v1/keys', {
        body: { name: `key ${(count += 1)}`, org_id: acme.id, scopes: ['all'] },
      }),
    )

  const limit = async (body: object): Promise<void> =>
    void dataOf(await nodes[0]!.call('POST', `/svc/v1/organizations/${acme.id}/limits`, { body }))

  test('answer with the time of the store, by which deadlines are measured, not with that of their machine', async () => {
    const node = await startTestService({ now: () => new Date('2030-01-31T12:00:00Z') })
    try {
      for (const path of ['/health', '/nowhere', '/organization/list']) {
        const { headers } = await node.call('GET', path)
        expect([path, headers['date']]).toEqual([path, 'Thu, 31 Jan 2030 12:00:00 GMT'])
      }
    } finally {
      await node.close()
    }
  })

  test('hold an organization no longer than writes that are all refused', async () => {
    const refused = () =>
      nodes[0]!.storage.write(() => Promise.reject(conflict('no', 'No')), { org: acme.id }).catch(String)
    // The first one has a transaction of its own, and the others share the next.
    expect(await Promise.all([refused(), refused(), refused()])).toHaveLength(3)
    const since = performance.now()
    await nodes[1]!.storage.write(async () => undefined, { org: acme.id })
    expect(performance.now() - since).toBeLessThan(1_000)
  })

  test('decide by what was read in the lock, even if a write named another organization', async () => {
    const beta = await createTenant(nodes[0]!, 'beta')
    const name = 'counter'
    const increment = ({ storage }: TestService) =>
      storage.write(
        async (db) => {
          const row = await db
            .selectFrom('settings')
            .where('name', '=', name)
            .select('value')
            .executeTakeFirst()
          const value = String(Number(row?.value ?? 0) + 1)
          await db
            .insertInto('settings')
            .values({ name, value })
            .onConflict((on) => on.column('name').doUpdateSet({ value }))
            .execute()
          await auditByService({ db }, storage.now(), { orgId: beta.id, action: 'createUser', subject: name })
          return value
        },
        { org: acme.id },
      )
    const values = await Promise.all(Array.from({ length: 30 }, (_, n) => increment(nodes[n % 3]!)))
    expect(values.map(Number).toSorted((a, b) => a - b)).toEqual(values.map((_, n) => n + 1))
  })

  test('refuse a write of a key that another node has revoked', async () => {
    const { id, key } = await createKey()
    // Both nodes know the key now.
    await onEach(async ({ call }) => dataOf(await call('GET', '/svc/v1/whoami', { key })))
    dataOf(await nodes[1]!.call('DELETE', `/svc/v1/keys/${id}`))
    const body = { name: 'late', scopes: ['ask'] }
    const answers = await onEach(({ call }) => call('POST', '/svc/v1/keys', { key, body }))
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
  })

  test('refuse a read of a key that was revoked: at once there, and within a second elsewhere', async () => {
    const { id, key } = await createKey()
    await onEach(async ({ call }) => dataOf(await call('GET', '/svc/v1/whoami', { key })))
    dataOf(await nodes[1]!.call('DELETE', `/svc/v1/keys/${id}`))
    expect((await nodes[1]!.call('GET', '/svc/v1/whoami', { key })).status).toBe(401)
    const since = performance.now()
    await expect.poll(async () => (await nodes[0]!.call('GET', '/svc/v1/whoami', { key })).status).toBe(401)
    // A second, and what a busy machine adds.
    expect(performance.now() - since).toBeLessThan(5_000)
  })

  test('record the use of a key once a minute', async () => {
    const { key, id } = await createKey()
    const at = nodes[0]!.storage.now()
    await onEach(async ({ call }) => dataOf(await call('GET', '/svc/v1/whoami', { key })))
    const lastUsed = async (): Promise<string> =>
      dataOf(await nodes[0]!.call('GET', `/svc/v1/keys/${id}`)).last_used_at
    await expect.poll(async () => (await lastUsed()) >= at).toBe(true)
    const first = await lastUsed()
    await onEach(async ({ call }) => dataOf(await call('GET', '/svc/v1/whoami', { key })))
    expect(await lastUsed()).toBe(first)
  })

  test('never exceed a quota together', async () => {
    await limit({ users: 20 })
    const bodies = Array.from({ length: 45 }, (_, n) => ({ ...ada, mobile: String(2025551000 + n) }))
    const answers = await Promise.all(
      bodies.map((body, n) =>
        nodes[n % 3]!.call('POST', `/organization/${acme.id}/create/user`, { key: acme.key, body }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(answers.filter(({ body }) => body.data.code === 'quota_exceeded')).toHaveLength(25)
  })

  test('count requests at other nodes against the rate of a key', async () => {
    await limit({ key_requests_per_second: 1 })
    const { key } = await createKey()
    const ask = (n: number) => nodes[n]!.call('GET', '/svc/v1/whoami', { key })
    dataOf(await ask(1))
    // A burst is 40 requests.
    const answers = await Promise.all(Array.from({ length: 45 }, () => ask(0)))
    // This node may know of the request at the other one already.
    expect([39, 40]).toContain(answers.filter(({ status }) => status === 200).length)
    const left = async () => Number(/"key";r=(\d+)/.exec((await ask(1)).headers['ratelimit']!)![1])
    // These requests alone do not use up half of a burst.
    await expect.poll(left, { interval: 300 }).toBeLessThan(20)
    await limit({ reset: ['key_requests_per_second'] })
  })

  test('send each message once', async () => {
    const messages = 60
    for (let n = 0; n < messages; n++)
      dataOf(
        await nodes[n % 3]!.call('POST', '/send/global/notification', {
          key: acme.key,
          body: { mobile: `+1202555${String(2000 + n)}`, type: 'alert', message: 'hello' },
        }),
      )
    await onEach((node) => node.delivered())
    expect(new Set(sent).size).toBe(messages)
    expect(sent).toHaveLength(messages)
  })

  test('do periodic work once', async () => {
    const { takePeriod } = await import('../../../src/service/storage/period.ts')
    for (const expected of [1, 0]) {
      const taken = await onEach(({ storage }) => takePeriod(storage, 'test', 60_000))
      expect(taken.filter(Boolean)).toHaveLength(expected)
    }
  })
})
