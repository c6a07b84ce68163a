import { safeLine } from '../core/safe-text.ts'
import { checkBiometric, type Biometric } from './biometric.ts'
import { checkDevice, type Device } from './device.ts'
import { checkIp } from './ip.ts'
import { rulesOf, type Levels } from './level.ts'
import { checkLocation, type Location } from './location.ts'
import { checkTime } from './time.ts'
import { cannotTell, factors, fail, notApplicable, type Factor, type Verdict } from './verdict.ts'

export type Policy = Levels & {
  /** What was asked for, and what every approval of the organization needs. */
  readonly required: readonly Factor[]
  /** Reported and never denied for, even where they are required. */
  readonly reportOnly: readonly Factor[]
  /** CIDR; empty allows all. */
  readonly ipAllow: readonly string[]
  /** Requires the factor `device`. */
  readonly deviceTrust: boolean
}

/** What is known at the decision. Any of it may be missing or hostile; `at` is its ISO instant, by the service's clock. */
export type Evidence = {
  at: string
  user_id: number | string
  location?: Location
  ip?: string
  device?: Device
  biometric?: Biometric
}

/** `policy` says what the result means: `required` denies unless it is PASS, `report_only` and null never do. */
export type FactorDecision = Verdict & { factor: string; policy: 'required' | 'report_only' | null }
export type Decision = { allow: boolean; factors: FactorDecision[] }

type Rule = {
  /** Whether a policy stands behind it, so that it can be asked for. */
  stands: (policy: Policy) => boolean
  /** Whether that policy enforces it without its being asked for. */
  enforced: (policy: Policy) => boolean
  check: (policy: Policy, evidence: Evidence) => Verdict
}

const hasFences = (policy: Policy): boolean => rulesOf(policy, ({ fences }) => fences).length > 0
const hasSlots = (policy: Policy): boolean => rulesOf(policy, ({ slots }) => slots).length > 0
const hasNetworks = ({ ipAllow }: Policy): boolean => ipAllow.length > 0

// What is configured is enforced: an active fence or slot needs no second switch. spec: not shown
const rules: Record<Factor, Rule> = {
  biometric: {
    stands: () => true,
    enforced: () => false,
    check: (_, { biometric }) => checkBiometric(biometric),
  },
  location: {
    stands: hasFences,
    enforced: hasFences,
    check: (policy, { location, at }) => checkLocation(policy, location, at),
  },
  time: { stands: hasSlots, enforced: hasSlots, check: (policy, { at }) => checkTime(policy, at) },
  device: {
    stands: () => true,
    enforced: ({ deviceTrust }) => deviceTrust,
    check: (_, { device, user_id }) => checkDevice(device, user_id),
  },
  ip: { stands: hasNetworks, enforced: hasNetworks, check: ({ ipAllow }, { ip }) => checkIp(ipAllow, ip) },
}

/** Whether the factor can be asked for: an approval that asks for one that cannot is refused when it is made. */
export const hasPolicy = (policy: Policy, factor: Factor): boolean => rules[factor].stands(policy)

const modeOf = (policy: Policy, factor: Factor): FactorDecision['policy'] => {
  if (policy.reportOnly.includes(factor)) return 'report_only'
  return policy.required.includes(factor) || rules[factor].enforced(policy) ? 'required' : null
}

/** Whether an approval without this factor is denied. */
export const isRequired = (policy: Policy, factor: Factor): boolean => modeOf(policy, factor) === 'required'

const checked = (policy: Policy, evidence: Evidence, factor: Factor): Verdict => {
  try {
    return rules[factor].check(policy, evidence)
  } catch {
    return cannotTell('the evidence cannot be read')
  }
}

const decideFactor = (policy: Policy, evidence: Evidence, factor: Factor): FactorDecision => {
  if (!factors.includes(factor))
    return { factor: safeLine(factor), policy: 'required', ...fail('no rule has this name', null, null) }
  const mode = modeOf(policy, factor)
  if (mode === null) return { factor, policy: mode, ...notApplicable('not asked for') }
  const verdict = checked(policy, evidence, factor)
  if (mode === 'report_only' || verdict.result === 'PASS' || verdict.result === 'FAIL')
    return { factor, policy: mode, ...verdict }
  // Where it is enforced, not knowing is failing.
  return { factor, policy: mode, ...fail(verdict.reason, verdict.expected, verdict.observed) }
}

/**
 * One verdict a factor; all that are required must pass. Depends on its arguments alone and never throws on evidence.
 * Where nothing is required everything is allowed: who asks for an approval always requires `biometric`.
 */
export const decide = (policy: Policy, evidence: Evidence): Decision => {
  const unknown = policy.required.filter((factor) => !factors.includes(factor))
  const all = [...factors, ...[...new Set(unknown)].sort()]
  const decided = all.map((factor) => decideFactor(policy, evidence, factor))
  return {
    allow: decided.every(({ policy, result }) => policy !== 'required' || result === 'PASS'),
    factors: decided,
  }
}
