import type { CheckedFactor } from '../../contract/checked-factors.ts'
import type { Policy } from '../../contract/policy.ts'
import { factors as allFactors } from '../../contract/records.ts'
import { conflict, invalid } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import { commandsFor, findUnchecked, nothingAgainst } from '../policy/unchecked-factors.ts'
import type { Pool } from './pool.ts'

type ApprovalInput = RowInput<'createApproval'>
type Factor = (typeof allFactors)[number]

/** Refuses a factor that has nothing to be checked against: the requester would take it as checked. */
const refuseUnchecked = (
  unchecked: CheckedFactor[],
  { asked, ofRules, slug }: { asked: readonly Factor[]; ofRules: readonly Factor[]; slug: string },
): void => {
  if (unchecked.length === 0) return
  const isAsked = unchecked.every((factor) => asked.includes(factor))
  const isOfRules = unchecked.every((factor) => ofRules.includes(factor))
  const missing = nothingAgainst(unchecked, slug)
  const commands = commandsFor(unchecked, slug)
  if (isAsked)
    throw invalid(
      'factors',
      `cannot include ${unchecked.join(' and ')}: this request requires it, and ${missing}`,
      `Leave it out, or first: ${commands}`,
    )
  throw conflict(
    'factor_unchecked',
    `${isOfRules ? 'A rule' : 'The organization'} requires ${unchecked.join(' and ')}, and ${missing}`,
    `First: ${commands}`,
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
  refuseUnchecked(await findUnchecked(call.db, pool.people, wanted), {
    asked: asked ?? [],
    ofRules,
    slug: pool.slug,
  })
  const unchecked: Factor[] = await findUnchecked(call.db, pool.people, defaults)
  for (const factor of defaults) if (!unchecked.includes(factor)) wanted.add(factor)
  const reported = policy.report_only ?? []
  const factors = allFactors.filter(
    (factor) =>
      factor === 'biometric' ||
      (wanted.has(factor) && (ofRules.includes(factor) || !reported.includes(factor))),
  )
  return { factors, unchecked }
}
