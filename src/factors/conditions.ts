import { decide, type Evidence, type Policy } from './decide.ts'
import { readInstant } from './instant.ts'
import { rulesOf } from './level.ts'
import type { Factor } from './verdict.ts'

/**
 * What an approval requires, for a person who has not decided yet. One of `options` must hold, of `total` in all; none are
 * named if the factor has none. `outlook` is the result if the person approved now; only the phone knows its location.
 */
export type Condition = {
  factor: Factor
  /** False if the factor is only recorded. */
  required: boolean
  options: string[]
  total: number
  outlook: 'pass' | 'fail' | 'unknown'
}

/** Maximum number of options that are named. */
const few = 3

const condition = (
  factor: Factor,
  required: boolean,
  options: readonly string[],
  outlook: Condition['outlook'],
): Condition => ({ factor, required, options: options.slice(0, few), total: options.length, outlook })

const placesOf = (policy: Policy, required: boolean): Condition[] =>
  rulesOf(policy, ({ fences }) => fences).map(({ rule }) =>
    condition('location', required, rule.names(), 'unknown'),
  )

const hoursOf = (policy: Policy, required: boolean, at: string): Condition[] => {
  const instant = readInstant(at)
  if (instant === undefined) return []
  return rulesOf(policy, ({ slots }) => slots).map(({ rule }) => {
    const readings = rule.read(instant)
    const options = readings.map(({ text, slot }) => `${text}, ${slot.timezone}`)
    return condition('time', required, options, readings.some(({ open }) => open) ? 'pass' : 'fail')
  })
}

/** Everything that stands between an approval and its effect. The organization and the user each have places and hours. */
export const conditionsOf = (policy: Policy, evidence: Evidence): Condition[] =>
  decide(policy, evidence).factors.flatMap(({ factor: name, policy: mode, result }): Condition[] => {
    if (mode === null) return []
    const [factor, required] = [name as Factor, mode === 'required']
    if (factor === 'location') return placesOf(policy, required)
    if (factor === 'time') return hoursOf(policy, required, evidence.at)
    const options = factor === 'ip' ? [...policy.ipAllow].sort() : []
    return [condition(factor, required, options, result === 'PASS' ? 'pass' : 'fail')]
  })
