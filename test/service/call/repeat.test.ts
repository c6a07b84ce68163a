import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { repeat } from '../../../src/service/call/repeat.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('runs a job at once and regularly, also after one that failed', async () => {
  const failed: unknown[] = []
  let runs = 0
  const run = async (): Promise<void> => {
    runs += 1
    if (runs === 1) throw new Error('no store')
  }
  const stop = repeat({ everyMs: 1_000, run, failed: (error) => void failed.push(error) })
  expect(runs).toBe(1)
  await vi.advanceTimersByTimeAsync(2_000)
  expect([runs, failed]).toEqual([3, [new Error('no store')]])
  await stop()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(runs).toBe(3)
})

test('runs a job that was due meanwhile once after the run in progress, and a stop waits for the run in progress', async () => {
  const events: string[] = []
  const runs: (() => void)[] = []
  const stop = repeat({
    everyMs: 1_000,
    run: async (isStopped) => {
      events.push('run')
      await new Promise<void>((resolve) => void runs.push(resolve))
      events.push(isStopped() ? 'stopped' : 'finished')
    },
    failed: () => undefined,
  })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(events).toEqual(['run'])
  runs[0]!()
  await vi.advanceTimersByTimeAsync(0)
  expect(events).toEqual(['run', 'finished', 'run'])
  const stopping = stop().then(() => events.push('end'))
  runs[1]!()
  await stopping
  expect(events).toEqual(['run', 'finished', 'run', 'stopped', 'end'])
})

test('does not report what fails because of a stop', async () => {
  const failed: unknown[] = []
  const stop = repeat({
    everyMs: 1_000,
    run: () => Promise.reject(new Error('the store is closed')),
    failed: (error) => void failed.push(error),
  })
  await stop()
  expect(failed).toEqual([])
})
