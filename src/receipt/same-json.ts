/** A member that is undefined is absent, as in JSON. */
const membersOf = (value: object): [string, unknown][] =>
  Object.entries(value).filter(([, inner]) => inner !== undefined)

/** Whether two values are the same JSON, whatever the order of the members. */
export const sameJson = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [members, others] = [membersOf(one), membersOf(other)]
  return (
    members.length === others.length &&
    members.every(
      ([name, inner]) =>
        Object.hasOwn(other, name) && sameJson(inner, (other as Record<string, unknown>)[name]),
    )
  )
}
