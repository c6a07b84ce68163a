import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { grouped, startProgress } from '../../../src/cli/bulk/progress.ts'
import { memoryIo } from '../memory-io.ts'

beforeEach(() => void vi.useFakeTimers({ now: 0, toFake: ['setInterval', 'clearInterval', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const play = (io: ReturnType<typeof memoryIo>) => {
  const state = { done: 4000, failed: 0, total: 10_000 }
  const progress = startProgress(io.stderr, () => state)
  const advance = (ms: number, done: number): void => {
    state.done = done
    vi.advanceTimersByTime(ms)
  }
  return { progress, advance }
}

test('a terminal shows one line, rewritten and cleared at the end', () => {
  const io = memoryIo({ tty: true })
  const { progress, advance } = play(io)
  advance(200, 4100)
  advance(200, 4400)
  progress.end()
  expect(io.err().split('\r\u001b[K')).toEqual([
    '',
    '4,100 of 10,000 done, 0 failed',
    '4,400 of 10,000 done, 0 failed',
    '',
  ])
})

test('a narrow terminal gets no second line', () => {
  const io = memoryIo({ tty: true, columns: 25 })
  const { progress, advance } = play(io)
  advance(200, 4100)
  progress.end()
  expect(
    Math.max(
      ...io
        .err()
        .split('\r\u001b[K')
        .map((line) => line.length),
    ),
  ).toBe(24)
})

test('other output gets a line every ten seconds', () => {
  const io = memoryIo()
  const { progress, advance } = play(io)
  advance(9999, 5000)
  expect(io.err()).toBe('')
  advance(10_001, 6000)
  progress.end()
  expect(io.err()).toBe('6,000 of 10,000 done, 0 failed\n6,000 of 10,000 done, 0 failed\n')
})

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [1234567, '1,234,567'],
])('%i is formatted as %s', (count, text) => expect(grouped(count)).toBe(text))
