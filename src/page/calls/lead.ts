// Only one tab of a browser waits for changes at the service; the others look when it tells them. Over HTTP/1.1 a browser has
// six connections to a host, so six waiting tabs would leave none for a decision.

const name = 'svc-inbox'

type Listener = {
  /** This tab leads from now on, or no longer. */
  turned: () => void
  /** The tab that leads has read the list with this mark. */
  heard: (mark: string) => void
}

/** Undefined if the browser has none, or blocks it together with storage. */
const openChannel = (): BroadcastChannel | undefined => {
  try {
    return new BroadcastChannel(name)
  } catch {
    return undefined
  }
}

export const createLead = ({ turned, heard }: Listener) => {
  const { locks } = navigator as { locks?: LockManager }
  const channel = openChannel()
  let canShare = locks !== undefined && channel !== undefined
  let running = false
  let leads = false
  let release: (() => void) | undefined
  /** Withdraws the latest request for the lead; one that was made before no longer counts. */
  let latest = new AbortController()

  const ask = (options: LockOptions): void => {
    latest.abort()
    const mine = (latest = new AbortController())
    const keep = async (): Promise<void> => {
      if (mine.signal.aborted) return
      leads = true
      turned()
      await new Promise<void>((resolve) => (release = resolve))
    }
    // Another tab took it, and keeps it until it is closed or hidden for good.
    const lost = (error: unknown): void => {
      if (mine.signal.aborted) return
      // The browser blocks storage, and locks with it.
      if ((error as DOMException).name !== 'AbortError') canShare = false
      leads = false
      turned()
      if (canShare) queue()
    }
    // A signal cannot be combined with `steal`, which does not wait anyway.
    const waiting = options.steal ? options : { ...options, signal: mine.signal }
    void locks!.request(name, waiting, keep).catch(lost)
  }
  const queue = (): void => ask({})
  /** The tab in front takes the lead, because the browser may have frozen the one that has it. */
  const take = (): void => {
    if (running && !leads && document.visibilityState === 'visible') ask({ steal: true })
  }
  if (channel && canShare) {
    channel.addEventListener('message', ({ data }) => heard(String(data)))
    document.addEventListener('visibilitychange', take)
  }

  return {
    /** Whether this tab waits at the service itself. */
    get leads(): boolean {
      return leads || !canShare
    },
    // A channel has no target origin: it reaches only this one.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    tell: (mark: string): void => channel?.postMessage(mark),
    start: (): void => {
      if (!canShare || running) return
      running = true
      if (document.visibilityState === 'visible') take()
      else queue()
    },
    stop: (): void => {
      running = false
      leads = false
      latest.abort()
      release?.()
    },
  }
}
