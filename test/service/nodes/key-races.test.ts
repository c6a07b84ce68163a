import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTenant, dataOf } from '../fixtures.ts'
import type { TestService } from '../harness.ts'
import { onPostgres } from '../storage/postgres-databases.ts'
import { countOf, startNodes, statuses, stopNodes } from './nodes.ts'

// At several nodes, or at one where only one can open the store.
let nodes: TestService[]
let acme: { id: number }
beforeAll(async () => {
  nodes = await startNodes(onPostgres() ? 2 : 1)
  acme = await createTenant(nodes[0]!, 'acme')
})
afterAll(() => stopNodes(nodes))

type Key = { id: string; key: string }
const at = (n: number): TestService => nodes[n % nodes.length]!
const create = async (n: number, org: boolean): Promise<Key> => {
  const body = { name: `${org ? 'org' : 'op'} ${n}`, scopes: ['all'], ...(org && { org_id: acme.id }) }
  return dataOf(await at(0).call('POST', '/svc/v1/keys', { body }))
}
const rotate = (n: number, { id }: Key, body: object, key?: string) =>
  at(n).call('POST', `/svc/v1/keys/${id}/rotate`, { body, key })
const revoke = (n: number, { id }: Key) => at(n).call('DELETE', `/svc/v1/keys/${id}`)
/** After some reads of the store, so that it meets the other call at another statement. */
const after = async <T>(reads: number, work: () => Promise<T>): Promise<T> => {
  for (let n = 0; n < reads; n++)
    await at(1).storage.read((db) => db.selectFrom('settings').select('name').execute())
  return work()
}
const works = async ({ key }: Key) => (await at(0).call('GET', '/svc/v1/whoami', { key })).status === 200
const newestOf = async (name: string) =>
  (
    dataOf(await at(0).call('GET', '/svc/v1/keys?limit=1000')) as {
      name: string
      replaced: boolean
      revoked_at: string | null
    }[]
  ).filter((row) => row.name === name && !row.replaced && row.revoked_at === null).length

describe.each([
  ['an organization', true],
  ['the service', false],
])('at the same time, for a key of %s,', (_, org) => {
  test.each([0, 3600])('two rotations with an overlap of %i s have one successor', async (overlap_s) => {
    const wrong = await countOf(8, async (n) => {
      const key = await create(n + overlap_s, org)
      const answers = await Promise.all([0, 1].map((i) => rotate(i, key, { overlap_s })))
      const made = answers.filter(({ status }) => status === 200).map(dataOf) as Key[]
      expect(statuses(answers)).toEqual([200, 409])
      const name = `${org ? 'org' : 'op'} ${n + overlap_s}`
      return made.length !== 1 || !(await works(made[0]!)) || (await newestOf(name)) !== 1
    })
    expect(wrong).toBe(0)
  })

  test('a rotation and a revocation leave one successor or none, and never the old secret', async () => {
    const wrong = await countOf(12, async (n) => {
      const key = await create(100 + n, org)
      const [rotated, revoked] = await Promise.all([rotate(0, key, {}), after(n, () => revoke(1, key))])
      expect([rotated.status === 200 || rotated.status === 409, revoked.status]).toEqual([true, 200])
      const left = rotated.status === 200 && (await works(dataOf(rotated) as Key))
      if (await works(key)) return true
      // The answer says which one it was.
      return left !== (dataOf(revoked).newest_id !== null)
    })
    expect(wrong).toBe(0)
  })

  test('a key that the old secret creates while it is replaced is created before, or not at all', async () => {
    const wrong = await countOf(8, async (n) => {
      const key = await create(200 + n, org)
      const [, made] = await Promise.all([
        rotate(0, key, { overlap_s: 3600 }),
        at(1).call('POST', '/svc/v1/keys', {
          key: key.key,
          body: { name: `heir ${org} ${n}`, org_id: acme.id, scopes: ['ask'] },
        }),
      ])
      return made.status !== 200 && made.status !== 403
    })
    expect(wrong).toBe(0)
  })
})
