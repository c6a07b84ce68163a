import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTenant, dataOf } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { createPhone, fromPhone, type Phone } from './phone.ts'
import { acme, ada, installHooks, service } from './visit.ts'

installHooks()

let eve: Phone
let gone: AbortController
beforeEach(async () => {
  eve = await createPhone(service, (await createTenant(service, 'globex')).id, 2)
  gone = new AbortController()
})
afterEach(() => gone.abort())

const markOf = async ({ cookie }: { cookie: string }): Promise<string> =>
  dataOf(await fromPhone(service, 'GET', 'sessions', { cookie })).mark
const wait = (mark: string, { cookie }: { cookie: string }): Promise<Answer> =>
  fromPhone(service, 'GET', `sessions?wait_s=30&seen=${mark}`, { cookie, signal: gone.signal })
/** Resolves once so many wait, each of them in as many inboxes as it has sessions. */
const untilWaiting = async (count: number): Promise<void> => {
  while (service.service.signals.waiting !== count) await new Promise(setImmediate)
}
/** Starts to wait, one after the other. */
const waits = async (count: number, start: () => Promise<Answer>): Promise<Promise<Answer>[]> => {
  const all: Promise<Answer>[] = []
  for (let i = 1; i <= count; i++) {
    all.push(start())
    await untilWaiting(i)
  }
  return all
}

test('a session waits six times at most', async () => {
  const mark = await markOf(ada)
  const [oldest] = await waits(6, () => wait(mark, ada))
  const newest = wait(mark, ada)
  expect(dataOf(await oldest!).mark).toBe(mark)
  await untilWaiting(6)
  gone.abort()
  expect((await newest).status).toBe(200)
})

test('a wait for several sessions counts in each, and the waits of others do not', async () => {
  const both = { cookie: `${ada.cookie}; ${eve.cookie}` }
  const mark = await markOf(both)
  const together = wait(mark, both)
  await untilWaiting(2)
  const others = await createPhone(service, acme.id, 3)
  void wait(await markOf(others), others)
  await untilWaiting(3)
  const ofAda = await markOf(ada)
  for (let i = 1; i <= 6; i++) void wait(ofAda, ada)
  expect(dataOf(await together)).toMatchObject({ mark, sessions: [{}, {}] })
  await untilWaiting(7)
})
