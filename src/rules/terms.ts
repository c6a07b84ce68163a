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

const least = (asked: number | undefined, most: readonly number[], otherwise: number): number =>
  Math.min(asked ?? (most.length > 0 ? Math.min(...most) : otherwise), ...most)

const given = <T>(values: readonly (T | undefined)[]): T[] => values.filter((value) => value !== undefined)

/** The terms of a request. Undefined if it wants to live longer than it can without a rule that says how long. */
export const termsOf = (rules: readonly Rule[], asked: Asked = {}): Terms | undefined => {
  const lifetimes = given(rules.map((rule) => rule.lifetime_s))
  if (lifetimes.length === 0 && (asked.lifetime_s ?? 0) > mostLifetime) return undefined
  return {
    lifetime_s: least(asked.lifetime_s, lifetimes, defaultLifetime),
    use_within_s: least(asked.use_within_s, given(rules.map((rule) => rule.use_within_s)), defaultUse),
    number: rules.some((rule) => rule.number),
    factors: [...new Set(rules.flatMap((rule) => rule.factors ?? []))],
  }
}

/** The first rule whose demand for a reason this one does not meet. */
export const unmetReason = (rules: readonly Rule[], reason: string | undefined): Rule | undefined =>
  rules.find(({ reason: wanted }) => {
    if (wanted === undefined) return false
    if (reason === undefined || reason.trim() === '') return true
    return wanted.pattern !== undefined && !matches(wanted.pattern, reason.trim())
  })
