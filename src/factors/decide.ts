import { safeLine } from '../core/safe-text.ts'
import { checkDevice, type Device } from './device.ts'
import { rulesOf, type Levels } from './level.ts'
import { checkLocation, type Location } from './location.ts'
import { contains, readAddress, readNetwork } from './network.ts'
import { checkTime } from './time.ts'
import { cannotTell, factors, fail, notApplicable, pass, type Factor, type Verdict } from './verdict.ts'

export type Policy = Levels & {
  /** Factors that the request asks for, and those that every approval of the organization needs. */
  readonly required: readonly Factor[]
  /** Reported, but never a reason to deny, even if they are required. */
  readonly reportOnly: readonly Factor[]
  /** CIDR; empty allows all. */
  readonly ipAllow: readonly string[]
  /** Requires the factor `device`. */
  readonly deviceTrust: boolean
}

/** The evidence for a decision. Any field can be missing or hostile, except `at`: the ISO instant by the clock of the service. */
export type Evidence = {
  at: string
  user_id: number | string
  location?: Location
  ip?: string
  device?: Device
  /** What the device reports. It does not say whether the person used face, fingerprint or PIN. */
  biometric?: { user_verified: boolean }
}

/** `policy: 'required'` denies unless the result is PASS; `report_only` and null never deny. */
export type FactorDecision = Verdict & { factor: string; policy: 'required' | 'report_only' | null }
export type Decision = { allow: boolean; factors: FactorDecision[] }

type Rule = {
  /** Whether the policy configures it, so that a request can ask for it. */
  configured: (policy: Policy) => boolean
  /** Whether the policy enforces it even if the request does not ask for it. */
  enforced: (policy: Policy) => boolean
  check: (policy: Policy, evidence: Evidence) => Verdict
}

const checkBiometric = (biometric: unknown): Verdict => {
  if (biometric === undefined || biometric === null)
    return cannotTell('the device reported no user verification')
  const { user_verified } = biometric as Record<string, unknown>
  if (typeof user_verified !== 'boolean')
    return cannotTell('the user verification of the device cannot be read')
  return (user_verified ? pass : fail)(
    user_verified ? 'the device verified its user' : 'the device did not verify its user',
    { user_verified: true },
    { user_verified },
  )
}

/** Requires an address in one of the networks (CIDR). An entry that is not valid contains nothing. */
const checkIp = (ipAllow: readonly string[], ip: unknown): Verdict => {
  if (ipAllow.length === 0) return notApplicable('no allowed networks are configured')
  if (ip === undefined || ip === null) return cannotTell('no IP address was provided')
  const address = readAddress(ip)
  if (!address) return cannotTell('the IP address cannot be read')
  const networks = [...ipAllow].sort()
  const match = networks.find((entry) => {
    const network = readNetwork(entry)
    return network !== undefined && contains(network, address)
  })
  const observed = { ip: address.toString() }
  if (match !== undefined) return pass(`${observed.ip} is in ${match}`, { networks: [match] }, observed)
  const [first] = networks
  const where =
    networks.length === 1 ? `not in ${first}` : `in none of the ${networks.length} allowed networks`
  return fail(`${observed.ip} is ${where}`, { networks }, observed)
}

const hasFences = (policy: Policy): boolean => rulesOf(policy, ({ fences }) => fences).length > 0
const hasSlots = (policy: Policy): boolean => rulesOf(policy, ({ slots }) => slots).length > 0
const hasNetworks = ({ ipAllow }: Policy): boolean => ipAllow.length > 0

// What is configured is enforced: an active fence or slot needs no second switch. spec: not shown
const rules: Record<Factor, Rule> = {
  biometric: {
    configured: () => true,
    enforced: () => false,
    check: (_, { biometric }) => checkBiometric(biometric),
  },
  location: {
    configured: hasFences,
    enforced: hasFences,
    check: (policy, { location, at }) => checkLocation(policy, location, at),
  },
  time: { configured: hasSlots, enforced: hasSlots, check: (policy, { at }) => checkTime(policy, at) },
  device: {
    configured: () => true,
    enforced: ({ deviceTrust }) => deviceTrust,
    check: (_, { device, user_id }) => checkDevice(device, user_id),
  },
  ip: {
    configured: hasNetworks,
    enforced: hasNetworks,
    check: ({ ipAllow }, { ip }) => checkIp(ipAllow, ip),
  },
}

/** Whether a request can ask for the factor; the service refuses a request for any other. */
export const hasPolicy = (policy: Policy, factor: Factor): boolean => rules[factor].configured(policy)

const modeOf = (policy: Policy, factor: Factor): FactorDecision['policy'] => {
  if (policy.reportOnly.includes(factor)) return 'report_only'
  return policy.required.includes(factor) || rules[factor].enforced(policy) ? 'required' : null
}

/** Whether an approval without this factor is denied. */
export const isRequired = (policy: Policy, factor: Factor): boolean => modeOf(policy, factor) === 'required'

const runRule = (policy: Policy, evidence: Evidence, factor: Factor): Verdict => {
  try {
    return rules[factor].check(policy, evidence)
  } catch {
    return cannotTell('the evidence cannot be read')
  }
}

const decideFactor = (policy: Policy, evidence: Evidence, factor: Factor): FactorDecision => {
  if (!factors.includes(factor))
    return { factor: safeLine(factor), policy: 'required', ...fail('unknown factor') }
  const mode = modeOf(policy, factor)
  if (mode === null) return { factor, policy: mode, ...notApplicable('not requested') }
  const verdict = runRule(policy, evidence, factor)
  if (mode === 'report_only' || verdict.result === 'PASS' || verdict.result === 'FAIL')
    return { factor, policy: mode, ...verdict }
  // A required factor fails if it cannot be decided.
  return { factor, policy: mode, ...fail(verdict.reason, verdict.expected, verdict.observed) }
}

/**
 * One verdict per factor; all required ones must pass. Pure, and never throws on evidence. If nothing is required,
 * everything is allowed: callers always require `biometric`.
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
