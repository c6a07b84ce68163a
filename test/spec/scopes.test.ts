import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/contract/operation.ts'
import { scopes, type Scope } from '../../src/contract/scopes.ts'
import { table } from '../../src/contract/table.ts'
import { createTenant, contentsOf, dataOf } from '../service/fixtures.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { isWhole, rowsToRun } from '../whole.ts'
import { pathToNothing, rows, routeText } from './law.ts'

// Each operation is called with a key of each scope, on a real service.

const written = new Map(rows('scopes.txt').map(([opens, route]) => [route!, opens!.split(' ')]))
const operations: Operation[] = Object.values(table)

type Asked = { path: string; body?: unknown; headers?: Record<string, string> }

/** Requests that differ in everything that a service could check before the key. All must get the same response. */
const variants = ({ method, path }: Operation, org: number): Asked[] => {
  const has = method === 'POST' || method === 'PUT'
  const at = (id: string, orgId = String(org)): string =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => (/^org_?id/i.test(name) ? orgId : id))
  return [
    { path: at('1'), ...(has && { body: {} }) },
    { path: at('999999') },
    { path: at('1', '999999'), ...(has && { body: { org_id: 'x', unknown: [[[]]] } }) },
    { path: at('%F0%9F%92%A9'), ...(has && { body: '{ this is no JSON' }) },
    { path: `${at('1')}?limit=x&unknown=1`, headers: { 'idempotency-key': 'x'.repeat(300) } },
    {
      path: at('1'),
      headers: { 'content-type': 'text/plain', 'x-svc-approval': 'apr_1' },
      ...(has && { body: 'x' }),
    },
  ]
}

let service: TestService
let org: number
const keys = new Map<Scope, string>()
beforeAll(async () => {
  service = await startTestService()
  const acme = await createTenant(service, 'acme')
  org = acme.id
  for (const scope of scopes) {
    const body = { name: scope, org_id: org, scopes: [scope] }
    keys.set(scope, dataOf(await service.call('POST', '/svc/v1/keys', { body })).key)
  }
})
afterAll(() => service.close())

const ask = async ({ method }: Operation, { path, body, headers }: Asked, key: string | null) => {
  const answer = await service.call(method, path, { key, body, headers })
  return { status: answer.status, body: answer.body, code: answer.body?.data?.code as string | undefined }
}

test('every route of the table is in the hand-written list, and no other', () => {
  expect([...written.keys()].toSorted()).toEqual(operations.map(routeText).toSorted())
})

/** The words of the list for the scopes that allow an operation, as the service behaves. */
const opensOf = async (operation: Operation): Promise<string[]> => {
  const path = pathToNothing(operation)
  const plain: Asked = { path, headers: { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' } }
  const stranger = await ask(operation, plain, null)
  if (stranger.code === 'session_over') return ['page']
  if (stranger.code !== 'unauthenticated') return ['open']
  const passed: Scope[] = []
  const refused: (string | undefined)[] = []
  for (const scope of scopes) {
    const { code } = await ask(operation, plain, keys.get(scope)!)
    if (code === 'unauthenticated') throw new Error(`The key of ${scope} is gone`)
    if (code === 'scope_missing' || code === 'operator_only') refused.push(code)
    else passed.push(scope)
  }
  if (passed.length === scopes.length) return ['any']
  return passed.length === 0 && refused.includes('operator_only') ? ['operator'] : passed
}

const ofKeys = operations.filter(({ open, session }) => !open && !session)

describe('a key with one scope', () => {
  test('learns only its own scopes from a rejection, whatever it sends, and changes nothing', async () => {
    const before = await contentsOf(service)
    let refusals = 0
    // Each variant with each scope, but not with each operation.
    let turn = 0
    for (const operation of ofKeys)
      for (const scope of scopes.filter((one) => !operation.scope!.includes(one))) {
        const answers = []
        const asks = variants(operation, org)
        const own = ++turn % (asks.length - 1)
        for (const asked of rowsToRun(asks, (_, at) => at === 0 || at === own + 1))
          answers.push(await ask(operation, asked, keys.get(scope)!))
        const [first] = answers
        expect([routeText(operation), first!.code]).toEqual([routeText(operation), 'scope_missing'])
        for (const answer of answers)
          expect([routeText(operation), answer]).toEqual([routeText(operation), first])
        refusals += answers.length
      }
    expect(refusals).toBeGreaterThan(isWhole ? 3_000 : 1_000)
    expect(await contentsOf(service)).toEqual(before)
  })

  test.each(operations.map((operation) => [routeText(operation), operation] as const))(
    'can call %s as specified',
    async (route, operation) => {
      expect(await opensOf(operation)).toEqual(written.get(route))
    },
  )
})
