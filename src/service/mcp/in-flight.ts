/** A call under way. */
type Call = {
  /** Withdraws what it asked. The call answers all the same. */
  abandon(): void
  /** As `abandon`, but the call answers nothing. */
  cancel(): void
}

/**
 * The calls under way of clients that cancel with a message of its own, in another HTTP request. A key tells whose
 * call it is: the bearer, the session and the id of the call, so that nobody cancels another's.
 */
export const createInFlight = () => {
  const calls = new Map<string, Set<Call>>()
  let isAbandoned = false

  return {
    /** Answers how to remove it again. */
    add: (key: string, call: Call): (() => void) => {
      const same = calls.get(key) ?? new Set()
      calls.set(key, same.add(call))
      if (isAbandoned) call.abandon()
      return () => {
        same.delete(call)
        if (same.size === 0) calls.delete(key)
      }
    },
    /** Two calls under one key cannot be told apart, and neither is cancelled. */
    cancel: (key: string): void => {
      const same = [...(calls.get(key) ?? [])]
      if (same.length === 1) same[0]!.cancel()
    },
    /** A call that begins later is abandoned at once. */
    abandonAll: (): void => {
      isAbandoned = true
      for (const same of calls.values()) for (const call of same) call.abandon()
    },
  }
}
