// Only one tab of a browser waits for changes at the service; the others look when it tells them. Over HTTP/1.1 a browser has
// six connections to a host, so six waiting tabs would leave none for a decision.

const name = 'svc-inbox'

type Listener = {
  /** This tab leads from now on, or no longer. */
  turned: () => void
  /** The tab that leads has read the list with this mark. */
  heard: (mark: string) => void
}

export const createLead = ({ turned, heard }: Listener) => {
  const { locks } = navigator as { locks?: LockManager }
  const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(name) : undefined
  const canShare = locks !== undefined && channel !== undefined
  let running = false
  let leads = false
  let release: (() => void) | undefined
  let queued = new AbortController()

  /** Keeps the lead until it is released or another tab takes it. */
  const keep = async (): Promise<void> => {
    if (!running) return
    leads = true
    turned()
    await new Promise<void>((resolve) => (release = resolve))
  }
  const lost = (): void => {
    leads = false
    turned()
    if (running) queue()
  }
  const queue = (): void => {
    queued = new AbortController()
    const { signal } = queued
    void locks!.request(name, { signal }, keep).catch(() => signal.aborted || lost())
  }
  /** The tab in front takes the lead, because the browser may have frozen the one that has it. */
  const take = (): void => {
    if (!running || leads || document.visibilityState !== 'visible') return
    queued.abort()
    void locks!.request(name, { steal: true }, keep).catch(lost)
  }
  if (canShare) {
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
      queued.abort()
      release?.()
    },
  }
}
