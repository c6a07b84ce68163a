import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { planRequest } from '../../../src/client/request.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { type OperationId, type Table, table } from '../../../src/contract/table.ts'
import type { Call, Handler, Handlers } from '../../../src/service/call/call.ts'
import { handlers } from '../../../src/service/handlers/all.ts'
import { createClock } from '../clock.ts'
import { startTestService, type TestService } from '../harness.ts'
import { settle, type Holding } from '../tenant-holding.ts'
import { inputs } from '../tenant-inputs.ts'

const ids = (Object.keys(table) as OperationId[]).filter((id) => (table[id] as Operation).cacheable)

/** What an answer must not depend on: the clock, this one request, and what is done to others by the way. */
const passing = ['now', 'requestId', 'pagedByTime', 'header', 'wake', 'ring', 'deliver', 'send'] as const

let looked: string[] = []

const watched = (
  id: OperationId,
  handler = handlers[id] as Handler<object, unknown>,
): Handler<object, unknown> => {
  if (typeof handler !== 'function') return handler
  return (input, call) =>
    handler(
      input,
      new Proxy(call, {
        get: (target: Call, name) => {
          if (passing.some((one) => one === name)) looked.push(`${id} looked at ${String(name)}`)
          return Reflect.get(target, name) as unknown
        },
      }),
    )
}

const clock = createClock()
let service: TestService
let acme: Holding & { key: string }
beforeAll(async () => {
  service = await startTestService({
    dev: true,
    now: clock.now,
    handlers: Object.fromEntries(ids.map((id) => [id, watched(id)])) as Partial<Handlers<Table>>,
  })
  acme = await settle(service, 'acme', 10)
})
afterAll(() => service.close())

const ask = async (id: OperationId) => {
  // A commit, so that no cached response is used.
  await service.storage.write(async () => undefined, { org: 0 })
  const input = inputs[id](acme, acme) as Record<string, unknown>
  const { method, url } = planRequest('http://x', table[id], input)
  const { pathname, search } = new URL(url)
  const { status, body, headers } = await service.call(method, pathname + search, { key: acme.key })
  // Cached responses count against the rate too.
  const { 'x-request-id': _, ratelimit: __, ...rest } = headers
  return { status, body, headers: rest }
}

describe('an operation that is declared cacheable', () => {
  test('is a read with GET that needs a key, and the table has some', () => {
    const wrong = ids.filter((id) => {
      const { method, effect, open, session }: Operation = table[id]
      return method !== 'GET' || effect !== 'read' || open || session
    })
    expect(wrong).toEqual([])
    expect(ids.length).toBeGreaterThan(10)
  })

  test('does nothing before it reads the store', () => {
    expect(ids.filter((id) => typeof handlers[id] !== 'function')).toEqual([])
  })

  test.each(ids)('answers the same at another time and to another request: %s', async (id) => {
    looked = []
    // The use of a key is noted once a minute, beside the response: that would be a change of the store.
    clock.tick(60_000)
    await ask(id)
    await service.storage.write(async () => undefined, { org: acme.org })
    const before = await ask(id)
    expect(before.status).toBe(200)
    clock.tick(50_000)
    expect(await ask(id)).toEqual(before)
    expect(looked).toEqual([])
  })
})

test('an operation that looks at the clock is found out', async () => {
  looked = []
  const spied = watched('whoAmI', async (_input, call) => call.now) as (input: object, call: Call) => unknown
  await spied({}, { now: 'now' } as Call)
  expect(looked).toEqual(['whoAmI looked at now'])
})
