import type { SourcedFactor } from '../../contract/auth.ts'
import { invalid } from '../../core/refusal.ts'
import { decide, type Evidence, type Policy } from '../../factors/decide.ts'
import { readInstant } from '../../factors/instant.ts'
import type { Location } from '../../factors/location.ts'
import type { HandlerOf } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import type { RowInput } from '../call/row-ids.ts'
import { parseImei } from '../devices/imei.ts'
import { identifyDevice } from './device.ts'
import { withdrawPrompts } from './prompt.ts'
import {
  capturedFactors,
  denied,
  findMember,
  findVerification,
  refuseUnready,
  spend,
  withSource,
} from './verification.ts'

type Results = RowInput<'submitAuthResults'>

const asserted = (factor: string, result: 'PASS' | 'FAIL'): SourcedFactor => ({
  factor,
  policy: 'required',
  result,
  reason: `the caller reports ${result}`,
  expected: 'PASS',
  observed: result,
  source: 'caller',
})

/** What the service knows itself when results are posted. */
type Known = {
  /** What the service captured when the person answered on the phone; empty if the person did not. */
  captured: readonly SourcedFactor[]
  /** Whether the device is one of this user's. It is then checked, whatever the policy is. */
  isDeviceKnown: boolean
}

/** Applies the rules. They always require the biometric check and, if it is known, the device. */
const applyRules = (rules: Policy, evidence: Evidence, { isDeviceKnown }: Known) => {
  const needed = isDeviceKnown ? (['biometric', 'device'] as const) : (['biometric'] as const)
  return decide(
    {
      ...rules,
      required: [...new Set([...rules.required, ...needed])],
      reportOnly: rules.reportOnly.filter((factor) => !needed.some((one) => one === factor)),
    },
    evidence,
  )
}

/**
 * Combines the posted results with the rules and with what the service captured. A caller's FAIL always counts, its PASS
 * only if the service does not know better. A posted location is checked against the geofences, and stays a claim of the
 * caller.
 */
const evaluate = (
  rules: Policy,
  evidence: Evidence,
  posted: Results,
  known: Known,
): { allow: boolean; factors: SourcedFactor[] } => {
  const capturedOf = (name: string): SourcedFactor | undefined =>
    known.captured.find(({ factor, policy }) => factor === name && policy !== null)
  const claims: Record<string, SourcedFactor> = {
    biometric: asserted('biometric', posted.biometric_result),
    location: asserted('location', posted.geo_fence_result),
  }
  const factors = applyRules(rules, evidence, known).factors.map((one): SourcedFactor => {
    const claim = claims[one.factor]
    // The caller is seldom where the phone is.
    if (!claim) return (one.factor === 'ip' ? capturedOf('ip') : undefined) ?? withSource(one, 'service')
    if (claim.result === 'FAIL') return claim
    const isLocationChecked =
      one.factor === 'location' && one.policy !== null && evidence.location !== undefined
    return capturedOf(one.factor) ?? (isLocationChecked ? withSource(one, 'caller') : claim)
  })
  const decision = capturedOf('decision')
  const all = decision ? [decision, ...factors] : factors
  return {
    allow: all.every(({ policy, result }) => policy !== 'required' || result === 'PASS'),
    factors: all,
  }
}

const windowMs = 5 * 60_000

const checkTimestamp = (timestamp: string, now: string): void => {
  const at = readInstant(timestamp)
  if (at === undefined)
    throw invalid('timestamp', 'must be ISO 8601 with an offset, such as 2030-01-31T12:00:00Z')
  const age = Date.parse(now) - at
  if (Math.abs(age) <= windowMs) return
  const seconds = Math.ceil(Math.abs(age) / 1000)
  throw invalid(
    'timestamp',
    `is ${seconds} s ${age > 0 ? 'old' : 'ahead of the clock of the service'}; it must be within ${windowMs / 1000} s of the check`,
    'Verify again and submit the results immediately',
  )
}

/** Where the device was at the check, as the caller claims; undefined if the caller did not post it. */
const readLocation = ({ location, timestamp }: Results, now: string): Location | undefined => {
  const { latitude, longitude, accuracy_m = 0 } = location ?? {}
  if (latitude === undefined || longitude === undefined) return undefined
  // The clock of the caller may be ahead, but no location is newer than now.
  const at = new Date(Math.min(readInstant(timestamp)!, Date.parse(now))).toISOString()
  return { latitude, longitude, accuracy_m, at }
}

/** Decides about the results that a caller posts. Uses up the verification, also with a denial. */
export const submitAuthResults: HandlerOf<'submitAuthResults'> = {
  before: async (input, { service, caller, ip }) => {
    const { storage, keyring } = service
    const { user_id, org_id, request_id, device_info } = input
    const address = ip?.()
    checkTimestamp(input.timestamp, storage.now())
    if (device_info.imei !== undefined) parseImei(device_info.imei, 'device_info.imei')
    const member = await storage.read((db) => findMember({ db, caller, keyring }, { user_id, org_id }))
    const rules = await service.factorsFor(member.org_id, member.user_id)

    return async (call) => {
      const key_id = namedKeyOf(call.caller)
      const row = await findVerification(call, { ...member, key_id, request_id })
      const refusal = await refuseUnready(call, row, { beforeAnswer: true })
      if (refusal) return refusal
      const { device, isKnown } = await identifyDevice(call, member, device_info, rules)
      const location = readLocation(input, call.now)
      const evidence = {
        at: call.now,
        user_id: member.user_id,
        device,
        biometric: { user_verified: input.biometric_result === 'PASS' },
        ...(location && { location }),
        ...(address !== undefined && { ip: address }),
      }
      const isAnswered = row.kind === 'prompt' && row.prompt?.status !== 'pending'
      const captured = isAnswered ? capturedFactors(row) : []
      const { allow, factors } = evaluate(rules, evidence, input, { captured, isDeviceKnown: isKnown })
      await spend(call, row, { outcome: allow ? 'success' : 'denied', source: 'caller' })
      // The claim of a caller must never become an approval or a receipt, so the person can no longer answer.
      if (row.prompt?.status === 'pending')
        await withdrawPrompts(call, { request_id: row.request_id }, 'replaced by submitted results')
      const source = isAnswered ? 'service' : 'caller'
      if (!allow) return denied(factors, source)
      return { user_id: row.user_id, request_id: row.request_id, decision: 'PASS', source, factors }
    }
  },
}
