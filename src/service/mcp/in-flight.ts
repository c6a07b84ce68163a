/**
 * The calls under way of clients that cancel with a message of its own, in another HTTP request. A key tells whose
 * call it is: the bearer, the session and the id of the call, so that nobody cancels another's.
 */
export const createInFlight = () => {
  const calls = new Map<string, Set<AbortController>>()

  return {
    add: (key: string): { signal: AbortSignal; done(): void } => {
      const controller = new AbortController()
      const same = calls.get(key) ?? new Set()
      calls.set(key, same.add(controller))
      return {
        signal: controller.signal,
        done: () => {
          same.delete(controller)
          if (same.size === 0) calls.delete(key)
        },
      }
    },
    /** Two calls under one key cannot be told apart, and neither is cancelled. */
    cancel: (key: string): void => {
      const same = [...(calls.get(key) ?? [])]
      if (same.length === 1) same[0]!.abort()
    },
    cancelAll: (): void => {
      for (const same of calls.values()) for (const controller of same) controller.abort()
    },
  }
}
