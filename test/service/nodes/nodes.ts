import { afterAll, beforeAll } from 'vitest'
import { createTenant } from '../fixtures.ts'
import type { Answer, TestService } from '../harness.ts'
import { startTestService } from '../harness.ts'

/** Services on one store, after `installHooks`. */
export let nodes: TestService[]

type Options = Parameters<typeof startTestService>[0]

/** Starts one service, and further ones on its store. The first one closes last. */
export const startNodes = async (count: number, options: Options = {}): Promise<TestService[]> => {
  const first = await startTestService(options)
  const others = Array.from({ length: count - 1 }, () => startTestService({ ...options, at: first }))
  return [first, ...(await Promise.all(others))]
}

export const stopNodes = async ([first, ...others]: TestService[]): Promise<void> => {
  await Promise.all(others.map((node) => node.close()))
  await first!.close()
}

/** Starts three nodes for the tests of a file. */
export const installHooks = (options: Options = {}): void => {
  beforeAll(async () => {
    nodes = await startNodes(3, options)
  })
  afterAll(() => stopNodes(nodes))
}

type Tenant = Awaited<ReturnType<typeof createTenant>>

/** Two organizations, after `installTenants`. */
export let acme: Tenant
export let beta: Tenant

/** Creates both for the tests of a file, after `installHooks`. */
export const installTenants = (): void =>
  beforeAll(async () => {
    acme = await createTenant(nodes[0]!, 'acme')
    beta = await createTenant(nodes[0]!, 'beta')
  })

/** Does the same on every node at the same time. */
export const onEach = <T>(work: (node: TestService, n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(nodes.map(work))

/** Does something `count` times, and returns how many of its results are true. */
export const countOf = async (count: number, race: (n: number) => Promise<boolean>): Promise<number> => {
  let found = 0
  for (let n = 0; n < count; n++) if (await race(n)) found += 1
  return found
}

export const statuses = (answers: readonly Answer[]): number[] =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b)

/** Does something after some round trips to the database, so that it meets other work at another statement. */
export const later = async <T>(roundTrips: number, work: () => Promise<T>): Promise<T> => {
  for (let n = 0; n < roundTrips; n++)
    await nodes[1]!.storage.read((db) => db.selectFrom('settings').select('name').execute())
  return work()
}
