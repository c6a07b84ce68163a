/** People, by id, of whom `need` must agree. */
export type LineOfPeople = { people: readonly string[]; need: number }

/** Somebody who agreed, and which lines that yes can count on. */
export type Yes = { id: string; counts(line: number): boolean }

/**
 * Assigns people who agreed to lines, each person to at most one line, so that every line has as many as it needs. Returns
 * the ids for each line, or undefined if they do not suffice. The same for the service that completes a request and for
 * whoever verifies it. Augmenting paths (Kuhn): a person gives way to another if they fit elsewhere.
 */
export const assign = (lines: readonly LineOfPeople[], yeses: readonly Yes[]): string[][] | undefined => {
  const seats = lines.flatMap(({ need }, line) => Array.from({ length: need }, () => line))
  const taken = new Map<number, Yes>()
  const place = (yes: Yes, tried: Set<number>): boolean => {
    for (const [seat, line] of seats.entries()) {
      if (tried.has(seat) || !yes.counts(line) || !lines[line]!.people.includes(yes.id)) continue
      tried.add(seat)
      const other = taken.get(seat)
      if (other && !place(other, tried)) continue
      taken.set(seat, yes)
      return true
    }
    return false
  }
  for (const yes of yeses) place(yes, new Set())
  if (taken.size < seats.length) return undefined
  return lines.map((_, line) => seats.flatMap((of, seat) => (of === line ? [taken.get(seat)!.id] : [])))
}
