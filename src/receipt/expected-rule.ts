import type { ReceiptClaims } from './claims.ts'
import type { Note } from './signature.ts'

/** A rule under which a receipt must have been given. What is left out is not compared. */
export type ExpectedRule = {
  name?: string | undefined
  /** SHA-256 of its canonical JSON (RFC 8785), lower-case hex. */
  digest?: string | undefined
  /** Whom it asks: each line must have been asked because of it, with this need or a higher one. */
  who?: readonly { group: string; need: number }[] | undefined
}

/** Checks that people signed that the rule holds the request, and that it asked somebody. */
export const checkRule = (
  { lines, rules }: ReceiptClaims,
  { name, digest, who = [] }: ExpectedRule,
  note: Note,
): void => {
  const found = rules.find(
    (rule) => (name ?? rule.name) === rule.name && (digest ?? rule.digest) === rule.digest,
  )
  const asked = lines.filter((line) => found !== undefined && line.rules.includes(found.name))
  const isWhole = who.every((one) =>
    asked.some(({ group, need }) => group?.name === one.group && need >= one.need),
  )
  const signed = rules.map((rule) => `${rule.name} (SHA-256 ${rule.digest})`).join(', ') || 'no rule'
  note(
    'expected rule',
    asked.length > 0 && isWhole,
    `given under ${signed}, expected ${[name, digest].filter((part) => part !== undefined).join(', SHA-256 ')}`,
  )
}
