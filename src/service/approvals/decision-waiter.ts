import type { DecisionWaiter, Service, WakeTarget } from '../call/service.ts'
import type { Member } from '../call/tenant.ts'
import { expireDue } from './expiry.ts'
import { type ApprovalAccess, type ApprovalRow, findApproval } from './record.ts'
import { Refusal } from '../../core/refusal.ts'

type Listener = () => void

const inboxPrefix = 'inbox:'

/** The name under which an approver's page listens for changes to its pending requests, its person and its devices. */
export const inboxName = ({ org_id, user_id }: Member): string => `${inboxPrefix}${org_id}:${user_id}`

type Options = {
  /** Finds what ended without a wake among the requests that are listened for. Runs only while somebody listens. */
  poll?(requests: string[]): Promise<Iterable<WakeTarget>>
  /** Milliseconds. */
  every?: number
}

/** The listeners of this process, by request or inbox. All share one timer. */
export const createDecisionWaiter = ({ poll, every = 250 }: Options = {}): DecisionWaiter => {
  const listeners = new Map<string, Set<Listener>>()
  let timer: NodeJS.Timeout | undefined
  let polling = false
  let stopped = false

  const release = (name: string): void => {
    const waiting = listeners.get(name)
    if (!waiting) return
    listeners.delete(name)
    for (const listener of waiting) listener()
  }

  const wake = (request: WakeTarget): void => {
    if (request.request_id !== undefined) release(request.request_id)
    release(inboxName(request))
    updateTimer()
  }

  const recheck = (): void => {
    for (const name of listeners.keys()) if (!poll || name.startsWith(inboxPrefix)) release(name)
    if (poll && listeners.size > 0) void pollOnce(poll)
    updateTimer()
  }

  const updateTimer = (): void => {
    if (listeners.size === 0) {
      clearInterval(timer)
      timer = undefined
    } else if (poll) timer ??= setInterval(() => void pollOnce(poll), every).unref()
  }

  const pollOnce = async (read: NonNullable<Options['poll']>): Promise<void> => {
    if (polling) return
    polling = true
    // If the store cannot be read now, the next tick reads it.
    const requests = [...listeners.keys()].filter((name) => !name.startsWith(inboxPrefix))
    const ended = await read(requests).catch(() => [])
    polling = false
    for (const request of ended) wake(request)
  }

  return {
    listen: (name) => {
      let listener!: Listener
      const woken = new Promise<void>((resolve) => (listener = resolve))
      if (stopped) listener()
      const waiting = listeners.get(name) ?? new Set()
      listeners.set(name, waiting.add(listener))
      updateTimer()
      return {
        woken,
        close: () => {
          waiting.delete(listener)
          if (waiting.size === 0 && listeners.get(name) === waiting) listeners.delete(name)
          updateTimer()
        },
      }
    },
    wake,
    recheck,
    stop: () => {
      stopped = true
      for (const name of listeners.keys()) release(name)
      updateTimer()
    },
    get stopped() {
      return stopped
    },
    get waiting() {
      let count = 0
      for (const waiting of listeners.values()) count += waiting.size
      return count
    },
  }
}

/** Reads a request. If it is over, its end is committed before anybody sees it. */
export const readCurrent = async (
  { storage, waiter }: Service,
  request_id: string,
  access: ApprovalAccess,
): Promise<ApprovalRow> => {
  const read = () => storage.read((db) => findApproval(db, request_id, access))
  const row = await read()
  if (row.status !== 'pending' || row.expires_at > storage.now()) return row
  for (const ended of await storage.write((db) => expireDue(db, storage.now(), { request_id }), {
    org: row.org_id,
  }))
    waiter.wake(ended)
  return read()
}

/** Resolves on a wake, after `ms`, or when the client disconnects. */
export const pause = (woken: Promise<void>, ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    void woken.then(end)
  })

const outageMs = 1_000

const isOutage = (error: unknown): boolean => error instanceof Refusal && error.status === 503

/**
 * Reads for a caller that waits: during an outage of the store again and again, until the wait is over. Throws the outage
 * then, because what was read before may no longer be true.
 */
export const readThroughOutage = async <T>(
  read: () => Promise<T>,
  isOver: () => boolean,
  signal: AbortSignal | undefined,
): Promise<T> => {
  for (;;)
    try {
      return await read()
    } catch (error) {
      if (!isOutage(error) || isOver()) throw error
      // Spread, so that all who wait do not come back at the same time.
      await pause(new Promise(() => undefined), outageMs * (0.5 + Math.random()), signal)
    }
}

/** Returns the request once it has ended, or unchanged after `seconds`, on a disconnect or when the service stops. */
export const waitForEnd = async (
  service: Service,
  request_id: string,
  access: ApprovalAccess,
  { seconds, signal }: { seconds: number; signal?: AbortSignal | undefined },
): Promise<ApprovalRow> => {
  const { storage, waiter } = service
  const until = performance.now() + seconds * 1000
  const isOver = (): boolean => performance.now() >= until || waiter.stopped || signal?.aborted === true
  const readRow = () => readCurrent(service, request_id, access)
  let isWaiting = false
  for (;;) {
    // Listen before reading: a decision between the two wakes this listener.
    const listening = waiter.listen(request_id)
    try {
      // A wait does not begin during an outage.
      const row = isWaiting ? await readThroughOutage(readRow, isOver, signal) : await readRow()
      isWaiting = true
      const left = until - performance.now()
      if (row.status !== 'pending' || left <= 0 || waiter.stopped || signal?.aborted) return row
      const life = Date.parse(row.expires_at) - Date.parse(storage.now())
      await pause(listening.woken, Math.max(1, Math.min(left, life)), signal)
    } finally {
      listening.close()
    }
  }
}
