import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createDecisionWaiter, inboxName } from '../../../src/service/approvals/decision-waiter.ts'
import type { WakeTarget } from '../../../src/service/call/service.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const ended: WakeTarget = { request_id: 'a', org_id: 1, user_id: 7 }

const isDone = async (promise: Promise<void>): Promise<boolean> => {
  let done = false
  void promise.then(() => (done = true))
  await vi.advanceTimersByTimeAsync(0)
  return done
}

describe('a listener', () => {
  test('wakes for its own request, with all other listeners for it', async () => {
    const waiting = createDecisionWaiter()
    const [a, b, other] = [waiting.listen('a'), waiting.listen('a'), waiting.listen('b')]
    waiting.wake(ended)
    expect(await Promise.all([a, b, other].map(({ woken }) => isDone(woken)))).toEqual([true, true, false])
  })

  test('wakes for the inbox of the approver, and for no other inbox', async () => {
    const waiting = createDecisionWaiter()
    const inboxes = [ended, { org_id: 1, user_id: 8 }, { org_id: 2, user_id: 7 }].map((one) =>
      waiting.listen(inboxName(one)),
    )
    waiting.wake(ended)
    expect(await Promise.all(inboxes.map(({ woken }) => isDone(woken)))).toEqual([true, false, false])
  })

  test('wakes for a change before it waits, and not after it is closed', async () => {
    const waiting = createDecisionWaiter()
    const { woken, close } = waiting.listen('a')
    const gone = waiting.listen('a')
    gone.close()
    waiting.wake(ended)
    close()
    expect([await isDone(woken), await isDone(gone.woken)]).toEqual([true, false])
  })

  test('is released when the service stops, even if it starts later', async () => {
    const waiting = createDecisionWaiter()
    const before = waiting.listen('a')
    waiting.stop()
    expect([await isDone(before.woken), await isDone(waiting.listen('b').woken)]).toEqual([true, true])
    expect(waiting.stopped).toBe(true)
  })
})

describe('polling the store', () => {
  test('happens every 250 ms with one timer for all, and only while somebody waits', async () => {
    const poll = vi.fn<() => Promise<WakeTarget[]>>().mockResolvedValue([])
    const waiting = createDecisionWaiter({ poll })
    await vi.advanceTimersByTimeAsync(1000)
    expect(poll).not.toHaveBeenCalled()
    const listening = Array.from({ length: 100 }, (_, i) => waiting.listen(`r${i}`))
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1000)
    expect(poll).toHaveBeenCalledTimes(4)
    for (const { close } of listening) close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('wakes listeners that got no wake, and continues after a failure', async () => {
    const poll = vi
      .fn<() => Promise<WakeTarget[]>>()
      .mockRejectedValueOnce(new Error('no disk'))
      .mockResolvedValue([ended])
    const waiting = createDecisionWaiter({ poll })
    const { woken } = waiting.listen('a')
    await vi.advanceTimersByTimeAsync(250)
    expect(await isDone(woken)).toBe(false)
    await vi.advanceTimersByTimeAsync(250)
    expect(await isDone(woken)).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('does not overlap', async () => {
    const poll = vi.fn<() => Promise<WakeTarget[]>>(() => new Promise(() => undefined))
    createDecisionWaiter({ poll }).listen('a')
    await vi.advanceTimersByTimeAsync(2000)
    expect(poll).toHaveBeenCalledTimes(1)
  })
})
