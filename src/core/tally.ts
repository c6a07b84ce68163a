/** Counts by name, from zero. */
export const createTally = <K>() => {
  const counts = new Map<K, number>()
  return {
    of: (one: K): number => counts.get(one) ?? 0,
    add: (one: K): void => void counts.set(one, (counts.get(one) ?? 0) + 1),
    remove: (one: K): void => {
      const left = counts.get(one)! - 1
      if (left > 0) counts.set(one, left)
      else counts.delete(one)
    },
    /** Those with this many. */
    atLeast: (most: number): K[] => [...counts].flatMap(([one, count]) => (count >= most ? [one] : [])),
  }
}
