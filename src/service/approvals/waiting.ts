import type { Waited, Waiting } from '../call/service.ts'

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
export const createWaiting = ({ poll, every = 250 }: Options = {}): Waiting => {
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
