const mostMarks = 30

/** Normalizing takes the square of the length of a run of marks, so a run is split as in Unicode's Stream-Safe Text (UAX #15). */
const splitMarks = (run: string): string =>
  [...run].map((mark, at) => (at > 0 && at % mostMarks === 0 ? `\u034f${mark}` : mark)).join('')

/** Go, for one, finds the members of a message without regard to case, also with letters such as K (the Kelvin sign). */
export const foldedName = (name: string): string =>
  name
    .replace(/\p{M}+/gu, splitMarks)
    .normalize('NFKC')
    .toLowerCase()

/** The value of a name; undefined if another one in the record could be taken for it, or it is spelled otherwise. */
export const onlyNamed = (values: Readonly<Record<string, unknown>>, name: string): unknown => {
  const same = Object.keys(values).filter((one) => foldedName(one) === foldedName(name))
  return same.length === 1 && same[0] === name ? values[name] : undefined
}
