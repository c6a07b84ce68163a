type Members = Record<string, unknown>

/** A member that is undefined is absent, as in JSON. */
const namesOf = (value: object): string[] =>
  Object.keys(value).filter((name) => (value as Members)[name] !== undefined)

/** Whether two values are the same JSON, whatever the order of the members. */
export const sameJson = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = namesOf(one)
  return (
    names.length === namesOf(other).length &&
    names.every(
      (name) => Object.hasOwn(other, name) && sameJson((one as Members)[name], (other as Members)[name]),
    )
  )
}
