import type { approval } from '../../contract/approval.ts'
import type { Policy } from '../../contract/policy.ts'
import { factors as allFactors } from '../../contract/records.ts'
import { invalid } from '../../core/refusal.ts'
import { hasPolicy } from '../../factors/decide.ts'
import type { Call } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import { readRestrictions } from '../policy/factor-settings.ts'
import type { Pool } from './pool.ts'

type ApprovalInput = RowInput<typeof approval.createApproval>
type Factor = (typeof allFactors)[number]

/** The device itself answers for the other two: it verifies its user and signs each approval. */
type CheckedFactor = Exclude<Factor, 'biometric' | 'device'>

/** What a factor is checked against, and the command that creates one. */
const checkedAgainst: Record<CheckedFactor, { noun: string; command: string }> = {
  location: {
    noun: 'geofence',
    command:
      'svc geofence create --name NAME --latitude DEGREES --longitude DEGREES --radius METRES --is-active 1',
  },
  time: {
    noun: 'time slot',
    command:
      'svc timeslot create --name NAME --days mon,tue,wed,thu,fri --start 09:00 --end 17:00 --timezone ZONE',
  },
}

/** Refuses a factor that has nothing to be checked against: the requester would take it as checked. */
const refuseUnchecked = (unchecked: CheckedFactor[], requested: Factor[], { slug }: Pool): void => {
  if (unchecked.length === 0) return
  const who = unchecked.every((factor) => requested.includes(factor)) ? 'this request' : 'the organization'
  const what = unchecked.map((factor) => checkedAgainst[factor].noun).join(' and no active ')
  const commands = unchecked.map((factor) => `${checkedAgainst[factor].command} --org ${slug}`)
  throw invalid(
    'factors',
    `cannot include ${unchecked.join(' and ')}: ${who} requires it, and ${slug} has no active ${what} to check it against`,
    `Leave it out, or first: ${commands.join('; ')}`,
  )
}

/**
 * The factors that must pass: those of the request or its defaults, of the organization and of rules, and always the device's
 * own check of its user. Factors that are only reported are left out, unless a rule requires them. `unchecked` are the defaults that there is nothing to check
 * against.
 */
export const requiredFactors = async (
  call: Call,
  pool: Pool,
  policy: Policy,
  { factors: asked, default_factors = [] }: Pick<ApprovalInput, 'factors' | 'default_factors'>,
  ofRules: readonly Factor[],
): Promise<{ factors: Factor[]; unchecked: Factor[] }> => {
  const wanted = new Set<Factor>([...(asked ?? []), ...(policy.factors ?? []), ...ofRules])
  const defaults = new Set<Factor>(asked ? [] : default_factors)
  const unchecked: Factor[] = []
  for (const set of [wanted, defaults]) set.delete('biometric')
  if (wanted.size + defaults.size > 0) {
    const ofEach: Awaited<ReturnType<typeof readRestrictions>>[] = []
    for (const person of pool.people) ofEach.push(await readRestrictions(call.db, person))
    const isUnchecked = (factor: Factor): factor is CheckedFactor =>
      ofEach.some((rules) => !hasPolicy(rules, factor))
    refuseUnchecked([...wanted].filter(isUnchecked), asked ?? [], pool)
    for (const factor of defaults)
      if (isUnchecked(factor)) unchecked.push(factor)
      else wanted.add(factor)
  }
  const reported = policy.report_only ?? []
  const factors = allFactors.filter(
    (factor) =>
      factor === 'biometric' ||
      (wanted.has(factor) && (ofRules.includes(factor) || !reported.includes(factor))),
  )
  return { factors, unchecked }
}
