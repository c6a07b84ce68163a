type Listener = () => void

export type Waiting = {
  /** From now on a wake of this request is not missed; `woken` resolves then, or when all are let go. */
  listen(request_id: string): { woken: Promise<void>; close(): void }
  wake(request_id: string): void
  /** Lets everybody go, now and from now on: the service stops. */
  stop(): void
  readonly stopped: boolean
}

type Options = {
  /** Looks for requests that ended without a wake, here or on another node; the fallback while somebody waits. */
  poll?(): Promise<Iterable<string>>
  /** Milliseconds. */
  every?: number
}

/** Who waits in this process, by request. One timer for all. */
export const createWaiting = ({ poll, every = 250 }: Options = {}): Waiting => {
  const listeners = new Map<string, Set<Listener>>()
  let timer: NodeJS.Timeout | undefined
  let polling = false
  let stopped = false

  const wake = (id: string): void => {
    const waiting = listeners.get(id)
    if (!waiting) return
    listeners.delete(id)
    for (const listener of waiting) listener()
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
    for (const id of ended) wake(id)
    keepTime()
  }

  return {
    listen: (id) => {
      let listener!: Listener
      const woken = new Promise<void>((resolve) => (listener = resolve))
      if (stopped) listener()
      const waiting = listeners.get(id) ?? new Set()
      listeners.set(id, waiting.add(listener))
      keepTime()
      return {
        woken,
        close: () => {
          waiting.delete(listener)
          if (waiting.size === 0 && listeners.get(id) === waiting) listeners.delete(id)
          keepTime()
        },
      }
    },
    wake: (id) => {
      wake(id)
      keepTime()
    },
    stop: () => {
      stopped = true
      for (const id of listeners.keys()) wake(id)
      keepTime()
    },
    get stopped() {
      return stopped
    },
  }
}
