import canonicalize from 'canonicalize'

/** Whether two values are the same JSON, whatever the order of the members. Mostly it is the same text, which is faster to see. */
export const sameJson = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other) || canonicalize(one) === canonicalize(other)
