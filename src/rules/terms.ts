import type { Rule } from '../contract/rule-shape.ts'
import { matches } from '../core/wildcard.ts'

// What the rules that hold a request say besides who must approve. All of them apply, so the strictest value of each counts.

const defaultLifetime = 300
const defaultUse = 600
/** Without a rule that allows more, in seconds. */
const mostLifetime = 3600

export type Terms = {
  lifetime_s: number
  use_within_s: number
  number: boolean
  factors: NonNullable<Rule['factors']>
}

type Asked = { lifetime_s?: number | undefined; use_within_s?: number | undefined }

/** A rule that says nothing counts as one that says the usual, so that no other rule makes it weaker. */
const least = (
  asked: number | undefined,
  said: readonly (number | undefined)[],
  { usual, most }: { usual: number; most: number },
): number =>
  Math.min(
    asked ?? (said.length > 0 ? Math.min(...said.map((value) => value ?? usual)) : usual),
    ...said.map((value) => value ?? most),
  )

/** The terms of a request. Undefined if it wants to live longer than it can without a rule that says how long. */
export const termsOf = (rules: readonly Rule[], asked: Asked = {}): Terms | undefined => {
  const lifetimes = rules.map((rule) => rule.lifetime_s)
  if (lifetimes.every((value) => value === undefined) && (asked.lifetime_s ?? 0) > mostLifetime)
    return undefined
  return {
    lifetime_s: least(asked.lifetime_s, lifetimes, { usual: defaultLifetime, most: mostLifetime }),
    use_within_s: least(
      asked.use_within_s,
      rules.map((rule) => rule.use_within_s),
      { usual: defaultUse, most: defaultUse },
    ),
    number: rules.some((rule) => rule.number),
    factors: [...new Set(rules.flatMap((rule) => rule.factors ?? []))],
  }
}

const isWithin = (a: string, b: string): boolean => a === b || a.startsWith(`${b} `)

/** Whether a call of svc can be held by both. */
const mayOverlap = (one: Rule['match'], other: Rule['match']): boolean => {
  const { operation: ones, type } = one
  const { operation: others } = other
  if (type !== 'request' || other.type !== 'request') return false
  if (!ones || !others) return true
  return ones.some((a) => others.some((b) => isWithin(a, b) || isWithin(b, a)))
}

const fits = ({ reason: { pattern } = {} }: Rule, { reason: { example } = {} }: Rule): boolean =>
  pattern === undefined || example === undefined || matches(pattern, example.trim())

/** Another rule for the same calls of svc with which no reason fits both, so that nobody could make them any more. */
export const clashingReason = (rules: readonly Rule[], rule: Rule): Rule | undefined =>
  rules.find((other) => mayOverlap(rule.match, other.match) && !fits(other, rule) && !fits(rule, other))

/** The first rule whose demand for a reason this one does not meet. */
export const unmetReason = (rules: readonly Rule[], reason: string | undefined): Rule | undefined =>
  rules.find(({ reason: wanted }) => {
    if (wanted === undefined) return false
    if (reason === undefined || reason.trim() === '') return true
    return wanted.pattern !== undefined && !matches(wanted.pattern, reason.trim())
  })
