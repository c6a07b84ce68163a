import { describe, expect, test } from 'vitest'
import type { Backend } from '../../src/asking/backend.ts'
import { silent } from '../../src/asking/progress.ts'
import { throughRestarts, waitFor } from '../../src/asking/wait.ts'
import type { ApprovalRecord } from '../../src/contract/approval.ts'
import { SvcError } from '../../src/core/errors.ts'
import { memoryIo } from '../cli/memory-io.ts'
import { record } from '../cli/approve/records.ts'

const start = Date.parse(record().requested_at)
const cut = new SvcError('unreachable', 'connection_cut', 'The connection ended')

/** Plays a service with scripted responses to polls. A poll takes the seconds that it waits, unless it is answered earlier. */
const playing = (answers: (ApprovalRecord | SvcError)[], { takesTime = true, first = record() } = {}) => {
  let now = start
  const polled: number[] = []
  const io = memoryIo()
  const backend = {
    now: () => now,
    tools: false,
    flags: '',
    wait: async (_id, seconds) => {
      polled.push(seconds)
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!
      if (answer instanceof SvcError) throw answer
      if (takesTime) now += seconds * 1000
      return answer
    },
  } as Backend
  const told: string[] = []
  const progress = {
    ...silent,
    waiting: () => void told.push('waiting'),
    lost: () => void told.push('disconnected'),
    reconnected: () => void told.push('reconnected'),
  }
  const sleep = async (ms: number): Promise<void> => void (now += ms)
  const wait = (most?: number) => waitFor(backend, first, { progress, signal: io.signal, most, sleep })
  const events = (): string[] => told
  const tools = throughRestarts(
    Object.assign(backend, { status: (id: string) => backend.wait(id, 0) }),
    undefined,
    {
      sleep,
    },
  )
  return { wait, polled, events, tools, elapsed: () => (now - start) / 1000 }
}

describe('a wait', () => {
  test('ends with the decision', async () => {
    const { wait, events } = playing([record(), record({ status: 'approved' })])
    expect((await wait()).status).toBe('approved')
    expect(events()).toEqual(['waiting'])
  })
  test('of 24 hours continues after a restart that took hours', async () => {
    const first = record({ expires_at: new Date(start + 24 * 3_600_000).toISOString() })
    const hours = 3 * 3600
    const down = Array.from({ length: hours }, () => cut)
    const { wait, events, elapsed } = playing(
      [...Array.from({ length: 500 }, () => first), ...down, first, record({ status: 'approved' })],
      { first },
    )
    expect((await wait()).status).toBe('approved')
    expect(events().filter((event) => event !== 'waiting')).toEqual(['disconnected', 'reconnected'])
    expect(elapsed()).toBeGreaterThan(500 * 25 + hours)
  })
  test('continues after a broken connection and a restart, and reports each once', async () => {
    const restarting = new SvcError('failed', 'http_503', 'Stopping', { http_status: 503 })
    const noStore = new SvcError('failed', 'storage_unavailable', 'Try again', { http_status: 503 })
    const { wait, events } = playing([cut, cut, restarting, noStore, record(), record({ status: 'denied' })])
    expect((await wait()).status).toBe('denied')
    expect(events()).toEqual(['disconnected', 'reconnected'])
  })
  test('polls at once after a broken connection, without a long poll first', async () => {
    const { wait, polled } = playing([cut, record({ status: 'approved' })])
    await wait()
    expect(polled).toEqual([25, 1])
  })
  test('gives up when nobody answers by the deadline, and reports no approval', async () => {
    const { wait, elapsed } = playing([cut])
    await expect(wait()).rejects.toMatchObject({
      exit: 'unreachable',
      detail: expect.stringContaining('not an approval'),
      hint: 'svc approve status apr_1',
    })
    expect(elapsed()).toBeGreaterThan(60)
    expect(elapsed()).toBeLessThan(75)
  })
  test('ends at once when its key is revoked, and says that the decision is unknown', async () => {
    const refused = new SvcError('forbidden', 'unauthenticated', 'No such key', { hint: 'svc profile login' })
    const { wait, polled } = playing([refused])
    await expect(wait()).rejects.toMatchObject({
      code: 'unauthenticated',
      message: 'No such key',
      detail: expect.stringMatching(/^The decision on apr_1 is unknown\. This is not an approval\./),
      hint: 'svc profile login',
    })
    expect(polled).toHaveLength(1)
  })
  test('returns the request as it is after the requested time', async () => {
    const { wait, elapsed } = playing([record()])
    expect((await wait(30)).status).toBe('pending')
    expect(elapsed()).toBe(30)
  })
  test('does not wait forever for a service that never expires a request', async () => {
    const { wait, elapsed } = playing([record()])
    expect((await wait()).status).toBe('pending')
    expect(elapsed()).toBeLessThan(80)
  })
  test('polls once even when the deadline seems to have passed', async () => {
    const { wait } = playing([record({ status: 'approved' })])
    expect((await wait(-3600)).status).toBe('approved')
  })
  test('polls a service that does not hold requests at most once a second', async () => {
    const { wait, polled, elapsed } = playing([record()], { takesTime: false })
    await wait(5)
    expect(elapsed()).toBe(5)
    expect(polled).toHaveLength(5)
  })
})

describe('a wait of the tools', () => {
  test('goes on through broken connections and a restart', async () => {
    const restarting = new SvcError('failed', 'http_503', 'Stopping', { http_status: 503 })
    const { tools } = playing([cut, cut, restarting, record({ status: 'denied' })])
    expect((await tools.wait('apr_1', 60)).status).toBe('denied')
  })
  test('returns the request as it is when the time is over', async () => {
    const { tools, polled, elapsed } = playing([record()])
    expect(await tools.wait('apr_1', 40)).toMatchObject({ status: 'pending', requester: 'ci' })
    expect([polled, elapsed()]).toEqual([[25, 15, 0], 40])
  })
  test('throws when nobody answered at all', async () => {
    const { tools } = playing([cut])
    await expect(tools.wait('apr_1', 10)).rejects.toMatchObject({ code: 'connection_cut' })
  })
  test('ends with the error of the service', async () => {
    const { tools } = playing([new SvcError('notFound', 'not_found', 'Request not found')])
    await expect(tools.wait('apr_1', 10)).rejects.toMatchObject({ exit: 'notFound' })
  })
})
