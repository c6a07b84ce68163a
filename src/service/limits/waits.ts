import type { Waits } from '../call/service.ts'

/**
 * A change of an inbox makes everybody who waits for it read it again. One tab of a browser waits for all tabs, so this
 * leaves room for connections that a proxy keeps open after the page is closed.
 */
const atMost = 6

/** Counts who waits in each session. A further wait ends the oldest one, whose page then gets its answer early. */
export const createWaits = (): Waits => {
  const waiting = new Map<number, Set<AbortController>>()
  return (sessions) => {
    const ours = new AbortController()
    for (const session of sessions) {
      const all = waiting.get(session) ?? new Set()
      waiting.set(session, all.add(ours))
      if (all.size > atMost) [...all][0]!.abort()
    }
    const close = (): void => {
      for (const session of sessions) {
        const all = waiting.get(session)
        all?.delete(ours)
        if (all?.size === 0) waiting.delete(session)
      }
    }
    ours.signal.addEventListener('abort', close)
    return { signal: ours.signal, close }
  }
}
