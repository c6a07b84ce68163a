import { usageError } from '../core/errors.ts'
import { isRecord } from '../core/is-record.ts'
import { nearest } from '../core/nearest.ts'
import type { Expectations } from '../receipt/expectations.ts'

// A program in JavaScript may misspell an option. Left alone, the check that it names would not be made.

/** Each name that a type has, so that none is forgotten here. */
export type NamesOf<T> = Readonly<Record<keyof T, true>>

/** Throws unless this is an object with no other fields. `where` is a function, or a path in its options. */
export const requireKnown = (
  where: string,
  given: unknown,
  known: Readonly<Record<string, true>>,
  what = 'option',
): void => {
  if (!isRecord(given)) throw usageError(`The ${what}s of ${where} must be an object`)
  const names = Object.keys(known)
  const wrong = Object.keys(given).find((name) => !Object.hasOwn(known, name))
  if (wrong === undefined) return
  const meant = nearest(wrong, names)
  throw usageError(
    `${where} has no ${what} ${JSON.stringify(wrong)}`,
    meant === undefined ? `It has: ${names.join(', ')}` : `Did you mean ${meant}?`,
  )
}

/** What `watchApproval` takes from a program; it sets the others itself. */
export const furtherNames: NamesOf<Omit<Expectations, keyof typeof namesFromRequest>> = {
  approver: true,
  pinnedKey: true,
  need: true,
  passkeys: true,
  requester: true,
  issuer: true,
  organization: true,
  list: true,
  rule: true,
  factors: true,
  maxAgeS: true,
  allowDev: true,
  allowUnseparated: true,
  separation: true,
  allowUnauthenticated: true,
  allowBreakGlass: true,
  allowGrant: true,
}

const namesFromRequest = { status: true, requestId: true, digest: true, action: true, lines: true } as const

const isNeed = (need: unknown): boolean => Number.isInteger(need) && Number(need) >= 1

/** Throws for expectations that would not be checked as they are meant. */
export const requireExpectations = (
  given: Expectations,
  known: Readonly<Record<string, true>> = { ...furtherNames, ...namesFromRequest },
): void => {
  requireKnown('expected', given, known, 'field')
  const empty = Object.entries(given).find(([, value]) => value === null)
  if (empty) throw usageError(`expected.${empty[0]} must not be null`, 'Leave out what is not checked')
  const { rule, lines, separation } = given
  if (separation !== undefined && separation !== 'strict')
    throw usageError(`expected.separation must be "strict", not ${JSON.stringify(separation)}`)
  if (rule !== undefined)
    requireKnown('expected.rule', rule, { name: true, digest: true, who: true }, 'field')
  for (const [name, list] of [
    ['lines', lines],
    ['rule.who', rule?.who],
  ] as const)
    for (const [at, line] of (list ?? []).entries()) {
      const where = `expected.${name}[${at}]`
      requireKnown(where, line, { people: true, group: true, need: true }, 'field')
      if (!isNeed(line.need)) throw usageError(`${where}.need must be a whole number above 0`)
    }
}
