/**
 * A change of an inbox makes everybody who waits for it read it again, and so does an event. One tab of a browser waits for all
 * tabs, so this leaves room for connections that a proxy keeps open after the page is closed.
 */
const atMost = { session: 6, events: 100 }

/** The sessions or organizations in which a wait counts. */
export type Limited = { what: keyof typeof atMost; ids: readonly number[] }

/** Notes a wait until `close`. `signal` aborts when newer waits take its place, and it is then answered early. */
export const createWaitLimits = () => {
  const waiting = new Map<string, Set<AbortController>>()
  return ({ what, ids }: Limited) => {
    const ours = new AbortController()
    const names = ids.map((id) => `${what} ${id}`)
    for (const name of names) {
      const all = waiting.get(name) ?? new Set()
      waiting.set(name, all.add(ours))
      if (all.size > atMost[what]) [...all][0]!.abort()
    }
    const close = (): void => {
      for (const name of names) {
        const all = waiting.get(name)
        all?.delete(ours)
        if (all?.size === 0) waiting.delete(name)
      }
    }
    ours.signal.addEventListener('abort', close)
    return { signal: ours.signal, close }
  }
}
