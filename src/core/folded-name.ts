/** Go, for one, finds the members of a message without regard to case, also with letters such as K (the Kelvin sign). */
export const foldedName = (name: string): string =>
  // Normalizing takes the square of the time of a run of marks: as Unicode's Stream-Safe Text, at most 30 in a row.
  name
    .replace(/\p{M}{30}/gu, '$&\u034f')
    .normalize('NFKC')
    .toLowerCase()

/** The value of a name; undefined if another one in the record could be taken for it, or it is spelled otherwise. */
export const onlyNamed = (values: Readonly<Record<string, unknown>>, name: string): unknown => {
  const same = Object.keys(values).filter((one) => foldedName(one) === foldedName(name))
  return same.length === 1 && same[0] === name ? values[name] : undefined
}
