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

const markOf = async (path: string, { cookie }: { cookie: string }): Promise<string> =>
  dataOf(await fromPhone(service, 'GET', path, { cookie })).mark
const wait = (path: string, mark: string, { cookie }: { cookie: string }): Promise<Answer> =>
  fromPhone(service, 'GET', `${path}?wait_s=30&seen=${mark}`, { cookie, signal: gone.signal })
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

test.each(['requests', 'sessions'])('a session waits six times at most: %s', async (path) => {
  const mark = await markOf(path, ada)
  const [oldest] = await waits(6, () => wait(path, mark, ada))
  const newest = wait(path, mark, ada)
  expect(dataOf(await oldest!).mark).toBe(mark)
  await untilWaiting(6)
  gone.abort()
  expect((await newest).status).toBe(200)
})

test('a wait for several sessions counts in each, and the waits of others do not', async () => {
  const both = { cookie: `${ada.cookie}; ${eve.cookie}` }
  const mark = await markOf('sessions', both)
  const together = wait('sessions', mark, both)
  await untilWaiting(2)
  const others = await createPhone(service, acme.id, 3)
  void wait('requests', await markOf('requests', others), others)
  await untilWaiting(3)
  const ofAda = await markOf('requests', ada)
  for (let i = 1; i <= 6; i++) void wait('requests', ofAda, ada)
  expect(dataOf(await together)).toMatchObject({ mark, sessions: [{}, {}] })
  await untilWaiting(7)
})
