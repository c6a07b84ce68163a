import type { Service, Waited, DecisionWaiter } from '../call/service.ts'
import { expireDue } from './expiry.ts'
import { type ApprovalRow, findApproval, type ApprovalAccess } from './record.ts'

type Listener = () => void

/** What the page of an approver listens to: any change of what is pending there, or of who they are. */
export const inboxOf = ({ org_id, user_id }: Omit<Waited, 'request_id'>): string =>
  `inbox:${org_id}:${user_id}`

type Options = {
  /** Looks for requests that ended without a wake, here or on another node; the fallback while somebody waits. */
  poll?(): Promise<Iterable<Waited>>
  /** Milliseconds. */
  every?: number
}

/** Who waits in this process, by request or inbox. One timer for all. */
export const createDecisionWaiter = ({ poll, every = 250 }: Options = {}): DecisionWaiter => {
  const listeners = new Map<string, Set<Listener>>()
  let timer: NodeJS.Timeout | undefined
  let polling = false
  let stopped = false

  const letGo = (name: string): void => {
    const waiting = listeners.get(name)
    if (!waiting) return
    listeners.delete(name)
    for (const listener of waiting) listener()
  }

  const wake = (request: Waited): void => {
    if (request.request_id !== undefined) letGo(request.request_id)
    letGo(inboxOf(request))
  }

  const keepTime = (): void => {
    if (listeners.size === 0) {
      clearInterval(timer)
      timer = undefined
    } else if (poll) timer ??= setInterval(() => void look(), every).unref()
  }

  const look = async (): Promise<void> => {
    if (polling || !poll) return
    polling = true
    // A store that cannot be read now is asked again in a moment.
    const ended = await poll().catch(() => [])
    polling = false
    for (const request of ended) wake(request)
    keepTime()
  }

  return {
    listen: (name) => {
      let listener!: Listener
      const woken = new Promise<void>((resolve) => (listener = resolve))
      if (stopped) listener()
      const waiting = listeners.get(name) ?? new Set()
      listeners.set(name, waiting.add(listener))
      keepTime()
      return {
        woken,
        close: () => {
          waiting.delete(listener)
          if (waiting.size === 0 && listeners.get(name) === waiting) listeners.delete(name)
          keepTime()
        },
      }
    },
    wake: (request) => {
      wake(request)
      keepTime()
    },
    stop: () => {
      stopped = true
      for (const name of listeners.keys()) letGo(name)
      keepTime()
    },
    get stopped() {
      return stopped
    },
  }
}

/** A request as it stands; one whose time is over is ended for good before anybody is told. */
export const readSettled = async (
  { storage, waiter }: Service,
  request_id: string,
  access: ApprovalAccess,
): Promise<ApprovalRow> => {
  const read = () => storage.read((db) => findApproval(db, request_id, access))
  const row = await read()
  if (row.status !== 'pending' || (row.format === 2 && row.expires_at > storage.now())) return row
  for (const ended of await storage.write((db) => expireDue(db, storage.now(), { request_id }), {
    org: row.org_id,
  }))
    waiter.wake(ended)
  return read()
}

/** Until somebody wakes, the time (milliseconds) is over, or the client goes. */
export const pause = (woken: Promise<void>, ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', go)
      resolve()
    }
    const timer = setTimeout(go, ms)
    signal?.addEventListener('abort', go)
    void woken.then(go)
  })

/** Answers when the request has ended, or as it is after `seconds`, when the client goes or the service stops. */
export const awaitEnd = async (
  service: Service,
  request_id: string,
  access: ApprovalAccess,
  { seconds, signal }: { seconds: number; signal?: AbortSignal | undefined },
): Promise<ApprovalRow> => {
  const { storage, waiter } = service
  const until = performance.now() + seconds * 1000
  for (;;) {
    // First listen, then read: what is decided between the two wakes this one.
    const listening = waiter.listen(request_id)
    try {
      const row = await readSettled(service, request_id, access)
      const left = until - performance.now()
      if (row.status !== 'pending' || left <= 0 || waiter.stopped || signal?.aborted) return row
      const life = Date.parse(row.expires_at) - Date.parse(storage.now())
      await pause(listening.woken, Math.max(1, Math.min(left, life)), signal)
    } finally {
      listening.close()
    }
  }
}
