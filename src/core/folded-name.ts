const mostMarks = 30

/** Normalizing takes the square of the length of a run of marks, so a run is split as in Unicode's Stream-Safe Text (UAX #15). */
const splitMarks = (run: string): string =>
  [...run].map((mark, at) => (at > 0 && at % mostMarks === 0 ? `\u034f${mark}` : mark)).join('')

/** Go, for one, finds the members of a message without regard to case, also with letters such as K (the Kelvin sign). */
export const foldedName = (name: string): string =>
  name
    .replace(/\p{M}+/gu, splitMarks)
    .normalize('NFKC')
    // First, because ß has no other capital than SS.
    .toUpperCase()
    .toLowerCase()
    // It writes a Σ otherwise at the end of a word, where a pattern may go on.
    .replaceAll('ς', 'σ')

/** The names of a record, by how they are folded. */
export const namesIn = (
  values: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, readonly string[]> => {
  const names = new Map<string, string[]>()
  for (const name of Object.keys(values)) {
    const folded = foldedName(name)
    const same = names.get(folded)
    if (same) same.push(name)
    else names.set(folded, [name])
  }
  return names
}

/**
 * The value of a name; undefined if another one in the record could be taken for it, or it is spelled otherwise. `names`: those
 * of the record, for whoever asks for many.
 */
export const onlyNamed = (
  values: Readonly<Record<string, unknown>>,
  name: string,
  names = namesIn(values),
): unknown => {
  const [same, ...others] = names.get(foldedName(name)) ?? []
  return same === name && others.length === 0 ? values[name] : undefined
}
