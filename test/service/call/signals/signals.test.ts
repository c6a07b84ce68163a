import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  auditTopic,
  createSignals,
  inboxTopic,
  requestTopic,
  type Signals,
} from '../../../../src/service/call/signals/signals.ts'
import type { NodeMessage, WakeTarget } from '../../../../src/service/storage/node-message.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const ended: WakeTarget = { request_id: 'a', org_id: 1, users: [7] }
const person = { org_id: 1, user_id: 7 }
const [a, b] = [requestTopic('a'), requestTopic('b')]

const isDone = async (promise: Promise<void>): Promise<boolean> => {
  let done = false
  void promise.then(() => (done = true))
  await vi.advanceTimersByTimeAsync(0)
  return done
}

/** Signals of two nodes that hear each other. */
const createTwo = (options: Parameters<typeof createSignals>[1] = {}) => {
  const told: NodeMessage[] = []
  const receivers: ((message: NodeMessage) => void)[][] = [[], []]
  const [here, there] = receivers.map((own, n) =>
    createSignals(
      {
        publish: (message) => {
          told.push(message)
          for (const receive of receivers[1 - n]!) receive(message)
        },
        subscribe: (receive) => void own.push(receive),
      },
      options,
    ),
  ) as [Signals, Signals]
  return { here, there, told }
}

const create = (options?: Parameters<typeof createSignals>[1]): Signals => createTwo(options).here

describe('a listener', () => {
  test('wakes for its own request, with all other listeners for it', async () => {
    const signals = create()
    const listening = [a, a, b].map((topic) => signals.listen([topic]))
    signals.wake(ended)
    expect(await Promise.all(listening.map(({ woken }) => isDone(woken)))).toEqual([true, true, false])
  })

  test('wakes for the inbox of the approver, and for no other inbox', async () => {
    const signals = create()
    const inboxes = [person, { org_id: 1, user_id: 8 }, { org_id: 2, user_id: 7 }].map((one) =>
      signals.listen([inboxTopic(one)]),
    )
    signals.wake(ended)
    expect(await Promise.all(inboxes.map(({ woken }) => isDone(woken)))).toEqual([true, false, false])
  })

  test('wakes for any of its topics, and counts in each until it is closed', async () => {
    const signals = create()
    const { woken, close } = signals.listen([b, inboxTopic(person)])
    expect(signals.waiting).toBe(2)
    signals.wake(ended)
    expect(await isDone(woken)).toBe(true)
    close()
    expect(signals.waiting).toBe(0)
  })

  test('wakes for a change before it waits, and not after it is closed', async () => {
    const signals = create()
    const { woken, close } = signals.listen([a])
    const gone = signals.listen([a])
    gone.close()
    signals.wake(ended)
    close()
    expect([await isDone(woken), await isDone(gone.woken)]).toEqual([true, false])
  })

  test('is released when the service stops, even if it starts later', async () => {
    const signals = create()
    const before = [a, auditTopic(1)].map((topic) => signals.listen([topic]))
    signals.stop()
    const released = [...before, signals.listen([b]), signals.listen([auditTopic('*')])]
    expect(await Promise.all(released.map(({ woken }) => isDone(woken)))).toEqual([true, true, true, true])
    expect(signals.stopped).toBe(true)
  })

  test('wakes for a change at another node, which is told only its ids', async () => {
    const { here, there, told } = createTwo()
    const { woken } = there.listen([a])
    here.wake(Object.assign({ action: 'A secret plan' }, ended))
    expect(await isDone(woken)).toBe(true)
    expect(told).toEqual([{ kind: 'wake', value: ended }])
  })
})

test('a commit wakes those who read its audit or all audits, once for those close together', async () => {
  const signals = create()
  const listening = [auditTopic(1), auditTopic(2), auditTopic('*')].map((topic) => signals.listen([topic]))
  signals.committed(2)
  signals.committed(3)
  expect(vi.getTimerCount()).toBe(1)
  await vi.advanceTimersByTimeAsync(20)
  expect(await Promise.all(listening.map(({ woken }) => isDone(woken)))).toEqual([false, true, true])
  expect(signals.waiting).toBe(0)
})

test('messages may be lost: every inbox wakes, and requests are looked for', async () => {
  const poll = vi.fn<() => Promise<WakeTarget[]>>().mockResolvedValue([ended])
  const { here, there } = createTwo({ poll })
  const listening = [a, b, inboxTopic({ org_id: 3, user_id: 1 })].map((topic) => there.listen([topic]))
  here.tell('lost', true)
  expect(await Promise.all(listening.map(({ woken }) => isDone(woken)))).toEqual([true, false, true])
  expect(poll.mock.calls).toEqual([[['a', 'b']]])
})

describe('polling the store', () => {
  test('happens every 250 ms with one timer for all, and only while somebody waits', async () => {
    const poll = vi.fn<() => Promise<WakeTarget[]>>().mockResolvedValue([])
    const signals = create({ poll })
    signals.listen([auditTopic('*')])
    await vi.advanceTimersByTimeAsync(1000)
    expect(poll).not.toHaveBeenCalled()
    const listening = Array.from({ length: 100 }, (_, i) => signals.listen([requestTopic(`r${i}`)]))
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
    const { woken } = create({ poll }).listen([a])
    await vi.advanceTimersByTimeAsync(250)
    expect(await isDone(woken)).toBe(false)
    await vi.advanceTimersByTimeAsync(250)
    expect(await isDone(woken)).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('does not overlap', async () => {
    const poll = vi.fn<() => Promise<WakeTarget[]>>(() => new Promise(() => undefined))
    create({ poll }).listen([a])
    await vi.advanceTimersByTimeAsync(2000)
    expect(poll).toHaveBeenCalledTimes(1)
  })
})
