import { assign } from '../core/assignment.ts'
import type { ReceiptClaims } from './claims.ts'
import { yesOf } from './lines.ts'
import type { Note } from './signature.ts'

/** People, by number, or a group, of whom `need` must have agreed. */
export type ExpectedLine =
  | { people: readonly string[]; group?: undefined; need: number }
  | { group: string; need: number }

/** Who must have answered. */
export type ExpectedPeople = {
  /** Who must have answered, E.164. Others may have, too. */
  approver?: string | undefined
  /** COSE public key, base64url, as stored when the approver enrolled. */
  pinnedKey?: string | undefined
  /** How many different people must have agreed, at least. */
  need?: number | undefined
  /**
   * Whom the requester asked. The people who agreed must satisfy every line, each of them only one. If it named nobody, only
   * rules can have: every line must be of a rule that everybody signed.
   */
  lines?: readonly ExpectedLine[] | undefined
  /**
   * The public keys (COSE, base64url) of people's passkeys, by number: whoever is named here counts only with one of theirs.
   * With them, the service alone cannot make a receipt.
   */
  passkeys?: Readonly<Record<string, readonly string[]>> | undefined
}

const countsOn = (claims: ReceiptClaims, line: ExpectedLine): boolean => {
  if (line.group === undefined) return line.people.includes(claims.sub)
  const yes = yesOf(claims)
  return claims.lines.some(
    ({ group, people }, at) => group?.name === line.group && people.includes(yes.id) && yes.counts(at),
  )
}

/** Whether people who agreed satisfy every line, each of them only one. */
const satisfy = (agreed: readonly ReceiptClaims[], lines: readonly ExpectedLine[]): boolean => {
  const people = agreed.map(({ approver }) => approver.user_id)
  const yeses = agreed.map((one) => ({
    id: one.approver.user_id,
    counts: (line: number) => countsOn(one, lines[line]!),
  }))
  const wanted = lines.map(({ need }) => ({ people, need }))
  return assign(wanted, yeses) !== undefined
}

/** Whether each line is asked by a rule that is in what everybody signed. */
const areOfRules = ({ lines, rules }: ReceiptClaims): boolean =>
  lines.every((line) => rules.some(({ name }) => line.rules.includes(name)))

/** Compares the people who answered with those that the verifier expects. */
export const checkPeople = (
  receipts: readonly ReceiptClaims[],
  { approver, pinnedKey, need, lines, passkeys }: ExpectedPeople,
  note: Note,
): void => {
  const counted = receipts.filter(
    ({ sub, evidence }) => passkeys?.[sub]?.includes(evidence.public_key) ?? true,
  )
  const numbers = counted.map(({ sub }) => sub)
  if (passkeys)
    note(
      'passkeys',
      counted.length > 0,
      `${counted.length} of ${receipts.length} people signed with an expected passkey`,
    )
  if (approver !== undefined)
    note('expected approver', numbers.includes(approver), `"${numbers.join('", "')}", expected "${approver}"`)
  if (pinnedKey !== undefined) {
    const isPinned = counted.some(
      ({ sub, evidence }) => evidence.public_key === pinnedKey && (approver ?? sub) === sub,
    )
    note('pinned key', isPinned, 'the pinned key of the approver')
  }
  if (need !== undefined)
    note('expected people', counted.length >= need, `${counted.length} agreed, expected at least ${need}`)
  if (lines?.length === 0)
    note(
      'expected lines',
      areOfRules(receipts[0]!),
      'the requester named nobody, so every line must be of a rule that everybody signed',
    )
  else if (lines) {
    const counts = lines.map((line) => ({
      ...line,
      agreed: counted.filter((one) => countsOn(one, line)).length,
    }))
    const short = counts.filter(({ agreed, need: wanted }) => agreed < wanted)
    note(
      'expected lines',
      satisfy(counted, lines),
      // Of lines that fail, only what is missing; each can have enough, and all together not.
      (short.length > 0 ? short : counts)
        .map(
          ({ agreed, ...line }) =>
            `${line.group === undefined ? line.people.join(' or ') : `@${line.group}`}: ${agreed} agreed, expected ${line.need}`,
        )
        .join('; '),
    )
  }
}
