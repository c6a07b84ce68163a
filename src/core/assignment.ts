/** People, by id, of whom `need` must agree. */
export type LineOfPeople = { people: readonly string[]; need: number }

/** Somebody who agreed, and which lines that yes can count on. */
export type Yes = { id: string; counts(line: number): boolean }

/** As many of these people as possible, each in one seat of a line. Augmenting paths (Kuhn): a person gives way to another. */
const seat = (lines: readonly LineOfPeople[], yeses: readonly Yes[]) => {
  const people = lines.map((line) => new Set(line.people))
  const seats = lines.flatMap(({ need }, line) => Array.from({ length: need }, () => line))
  const taken = new Map<number, Yes>()
  const place = (yes: Yes, tried: Set<number>): boolean => {
    for (const [at, line] of seats.entries()) {
      if (tried.has(at) || !yes.counts(line) || !people[line]!.has(yes.id)) continue
      tried.add(at)
      const other = taken.get(at)
      if (other && !place(other, tried)) continue
      taken.set(at, yes)
      return true
    }
    return false
  }
  for (const yes of yeses) place(yes, new Set())
  return { seats, taken, place }
}

/** Whether these people suffice for the lines, each for one, whoever of them is missing. */
export const sufficeWithoutAny = (lines: readonly LineOfPeople[], ids: readonly string[]): boolean => {
  const yeses = ids.map((id): Yes => ({ id, counts: () => true }))
  const { seats, taken, place } = seat(lines, yeses)
  if (taken.size < seats.length) return false
  return yeses.every((missing) => {
    const own = [...taken].find(([, yes]) => yes === missing)
    if (!own) return true
    taken.delete(own[0])
    const seated = new Set(taken.values())
    return yeses.some((yes) => yes !== missing && !seated.has(yes) && place(yes, new Set()))
  })
}

/** How many of these people the lines need, each person for one line. */
export const countSeated = (lines: readonly LineOfPeople[], ids: readonly string[]): number =>
  seat(
    lines,
    ids.map((id) => ({ id, counts: () => true })),
  ).taken.size

/**
 * Assigns people who agreed to lines, each person to at most one line, so that every line has as many as it needs. Returns
 * the ids for each line, or undefined if they do not suffice. The same for the service that completes a request and for
 * whoever verifies it.
 */
export const assign = (lines: readonly LineOfPeople[], yeses: readonly Yes[]): string[][] | undefined => {
  const { seats, taken } = seat(lines, yeses)
  if (taken.size < seats.length) return undefined
  return lines.map((_, line) => seats.flatMap((of, at) => (of === line ? [taken.get(at)!.id] : [])))
}
