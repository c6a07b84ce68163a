import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/cli/bulk/check-rows.ts'
import { sendRows } from '../../../src/cli/bulk/send-rows.ts'
import { SvcError } from '../../../src/core/errors.ts'

const itemsOf = (count: number): Item[] =>
  Array.from({ length: count }, (_, i) => ({ row: i, mobile: String(i), input: {} }))
const answered = (http_status: number, more: { retry_after_ms?: number } = {}): SvcError =>
  new SvcError('failed', `http_${http_status}`, 'No', { http_status, ...more })

const play = async (
  count: number,
  send: (item: Item, atOnce: number) => Promise<void>,
  { concurrency = 4, signal = new AbortController().signal } = {},
) => {
  const ended: [number, string][] = []
  const slept: number[] = []
  let atOnce = 0
  let most = 0
  const stopped = await sendRows({
    items: itemsOf(count),
    concurrency,
    signal,
    send: async (item) => {
      atOnce += 1
      most = Math.max(most, atOnce)
      try {
        await turn()
        await send(item, atOnce)
        return 'created'
      } finally {
        atOnce -= 1
      }
    },
    done: ({ row }, outcome) => void ended.push([row, typeof outcome === 'string' ? outcome : 'failed']),
    paused: () => undefined,
    sleep: async (ms) => {
      slept.push(ms)
      for (let i = 0; i < 5; i++) await turn()
    },
  })
  return { ended, slept, most, stopped }
}

describe('sending rows', () => {
  test('keeps to the concurrency, and sends each row once', async () => {
    const { ended, most, stopped } = await play(50, async () => undefined)
    expect(most).toBe(4)
    expect(ended.map(([row]) => row).toSorted((a, b) => a - b)).toEqual(itemsOf(50).map(({ row }) => row))
    expect(stopped).toBeUndefined()
  })

  test('pauses all workers when one must wait, for the requested time', async () => {
    let limits = 6
    const { ended, slept } = await play(20, async () => {
      if (limits-- > 0) throw answered(429, { retry_after_ms: 2500 })
    })
    expect(slept.every((ms) => ms === 2500)).toBe(true)
    expect(slept.length).toBeLessThan(6)
    expect(ended).toHaveLength(20)
    expect(ended.every(([, status]) => status === 'created')).toBe(true)
  })

  test('waits longer each time without a requested time, but not forever', async () => {
    const { ended, slept, stopped } = await play(1, async () => {
      throw answered(429)
    })
    expect(slept.slice(0, 4)).toEqual([1000, 2000, 4000, 8000])
    expect(slept).toHaveLength(20)
    expect([ended, stopped?.http_status]).toEqual([[], 429])
  })

  test('stops when a quota is reached', async () => {
    const full = new SvcError('refused', 'quota_exceeded', 'No room', { http_status: 409 })
    const { ended, stopped } = await play(
      50,
      async ({ row }) => {
        if (row >= 10) throw full
      },
      { concurrency: 1 },
    )
    expect(ended).toHaveLength(10)
    expect(stopped).toBe(full)
  })

  test('finishes the rows in progress on abort, and starts no other', async () => {
    const abort = new AbortController()
    const { ended } = await play(
      50,
      async ({ row }) => {
        if (row === 5) abort.abort()
      },
      { signal: abort.signal },
    )
    expect(ended.length).toBeLessThan(10)
    expect(ended.map(([row]) => row)).toContain(5)
  })

  test('does not finish rows that are not awaited', async () => {
    const { ended } = await play(1, async () => {
      throw new SvcError('interrupted', 'interrupted', 'Interrupted')
    })
    expect(ended).toEqual([])
  })

  test('continues after failures of single rows, however many', async () => {
    const { ended, stopped } = await play(200, async () => {
      throw answered(409)
    })
    expect([ended.length, stopped]).toEqual([200, undefined])
  })

  test('continues when the service fails now and then', async () => {
    const { ended, stopped } = await play(200, async ({ row }) => {
      throw answered(row % 20 === 0 ? 409 : 500)
    })
    expect([ended.length, stopped]).toEqual([200, undefined])
  })

  test.each([500, 503, 403, 404])('stops after 32 responses of %i in a row', async (status) => {
    const { ended, stopped } = await play(200, async ({ row }) => {
      if (row > 9) throw answered(status)
    })
    expect(ended.length).toBeGreaterThanOrEqual(42)
    expect(ended.length).toBeLessThan(46)
    expect(stopped?.http_status).toBe(status)
  })

  test('passes on an internal error as it is', async () => {
    const wrong = play(3, async () => {
      throw new TypeError('x')
    })
    await expect(wrong).rejects.toThrow(TypeError)
  })
})
