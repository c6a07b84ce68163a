/** What waits: that of one organization, for example, in its order, and one of each in turn. */
export const createTurnQueue = <T>() => {
  const waiting = new Map<unknown, T[]>()
  let size = 0
  return {
    size: (): number => size,
    add: (of: unknown, one: T): void => {
      const own = waiting.get(of)
      if (own) own.push(one)
      else waiting.set(of, [one])
      size += 1
    },
    next: (): T | undefined => {
      for (const [of, own] of waiting) {
        const one = own.shift()
        // Behind all others.
        waiting.delete(of)
        if (own.length > 0) waiting.set(of, own)
        size -= 1
        return one
      }
      return undefined
    },
  }
}
