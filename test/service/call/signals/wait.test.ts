import { expect, test } from 'vitest'
import { createSignals, requestTopic } from '../../../../src/service/call/signals/signals.ts'
import { waitFor } from '../../../../src/service/call/signals/wait.ts'

const nobody = { publish: () => undefined, subscribe: () => undefined }
const request = { request_id: 'a', org_id: 1, users: [7] }

/** `count` waits for one request, with a read that takes a while, as of a database. */
const startWaits = (count: number, share: (n: number) => string) => {
  const signals = createSignals(nobody)
  const state = { ended: false, reads: 0 }
  const read = async () => {
    state.reads += 1
    const value = state.ended
    await new Promise(setImmediate)
    return { value, done: value }
  }
  const waits = Array.from({ length: count }, (_, n) =>
    waitFor(signals, { topics: [requestTopic('a')], seconds: 30, share: share(n) }, read),
  )
  return { signals, state, waits }
}

test('5,000 waits for one request read it once when it ends', async () => {
  const { signals, state, waits } = startWaits(5_000, () => 'operator')
  expect(state.reads).toBe(5_000)
  await new Promise(setImmediate)
  state.ended = true
  signals.wake(request)
  expect(new Set(await Promise.all(waits))).toEqual(new Set([true]))
  expect(state.reads).toBe(5_001)
})

test('callers of different keys do not share what they read', async () => {
  const { signals, state, waits } = startWaits(10, (n) => `key ${n % 2}`)
  await new Promise(setImmediate)
  state.ended = true
  signals.wake(request)
  await Promise.all(waits)
  expect(state.reads).toBe(12)
})

test('a read that began before a change is not shared after it', async () => {
  const { signals, state, waits } = startWaits(10, () => 'operator')
  await new Promise(setImmediate)
  signals.wake(request)
  await Promise.resolve()
  state.ended = true
  signals.wake(request)
  expect(new Set(await Promise.all(waits))).toEqual(new Set([true]))
})
