import type { Operation } from '../../src/contract/operation.ts'
import type { Scope } from '../../src/contract/scopes.ts'
import { table } from '../../src/contract/table.ts'
import { createTenant, dataOf } from '../service/fixtures.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { pathToNothing, rows } from '../spec/law.ts'
import { setsOf } from './scope-sets.ts'
import type { Result, Torture } from './torture.ts'

const opens = new Map(rows('scopes.txt').map(([words, route]) => [route!, words!.split(' ')]))
const operations: Operation[] = Object.values(table).filter(
  (operation: Operation) => !operation.open && !operation.session,
)

const mayCall = ({ method, path }: Operation, set: readonly Scope[]): boolean => {
  const words = opens.get(`${method} ${path}`)!
  return words.includes('any') || set.some((scope) => words.includes(scope))
}

type Tally = { count: number; failures: number; hits: Record<string, number>; examples: string[] }

/** Calls every operation with a key of each set. `used` returns the key to use instead. */
const ask = async (service: TestService, sets: Scope[][], used: (own: string) => string): Promise<Tally> => {
  const tally: Tally = { count: 0, failures: 0, hits: { refused: 0, opened: 0 }, examples: [] }
  const { id: org_id } = await createTenant(service, `acme-${sets.length}`)
  for (const set of sets) {
    const body = { name: set.join(), org_id, scopes: set }
    const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    for (const operation of operations) {
      const answer = await service.call(operation.method, pathToNothing(operation), { key: used(key) })
      const code: string | undefined = answer.body?.data?.code
      // Operations for operators are refused for every key here.
      const isRefused = code === 'scope_missing' || code === 'operator_only'
      const expected = mayCall(operation, set)
      tally.count += 1
      tally.hits[isRefused ? 'refused' : 'opened']! += 1
      if (isRefused !== expected) continue
      tally.failures += 1
      if (tally.examples.length < 5)
        tally.examples.push(`${set.join()}: ${operation.method} ${operation.path}: ${answer.status} ${code}`)
    }
  }
  return tally
}

export const torture: Torture = {
  name: 'Scopes: every operation with a key of each set of scopes, compared with the hand-written list',
  must: '0 allowed without the scope, 0 refused with it',
  run: async (): Promise<Result> => {
    const service = await startTestService()
    try {
      const sets = setsOf()
      const honest = await ask(service, sets, (own) => own)
      // Broken: scopes are not checked, because the key is the operator's.
      const broken = await ask(service, sets.slice(0, 8), () => service.operatorKey)
      return { ...honest, control: broken.failures }
    } finally {
      await service.close()
    }
  },
}
