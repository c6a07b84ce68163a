import type { Policy } from '../../contract/policy.ts'
import { invalid, Refusal } from '../../core/refusal.ts'
import { normalizeNetwork } from '../../factors/network.ts'
import type { Call } from '../call/call.ts'
import { isOperator } from '../call/caller.ts'
import { devicePolicyOf, sessionMaxOf } from './device-policy.ts'

/** Normalizes networks and removes duplicates. Throws 422 for an entry that is not a network. */
export const checkPolicy = (policy: Policy): Policy => {
  const { ip_allow, factors, report_only, allowed_aaguids, authenticators, ...switches } = policy
  const networks = ip_allow?.map((entry, i) => {
    const network = normalizeNetwork(entry)
    if (network === undefined)
      throw invalid(`policy.ip_allow[${i}]`, 'must be a network such as 203.0.113.0/24, or an address')
    return network
  })
  return {
    ...switches,
    ...(networks && { ip_allow: [...new Set(networks)] }),
    ...(factors && { factors: [...new Set(factors)] }),
    ...(authenticators && { authenticators: [...new Set(authenticators)] }),
    ...(report_only && { report_only: [...new Set(report_only)] }),
    ...(allowed_aaguids && { allowed_aaguids: [...new Set(allowed_aaguids.map((id) => id.toLowerCase()))] }),
  }
}

// Some members of a policy protect an organization against its own keys, so such a key must not be able to switch them off.

/** Whether `after` allows anything that `before` does not. An empty list allows everything. */
const isLonger = (before: readonly string[] = [], after: readonly string[] | undefined): boolean =>
  after !== undefined &&
  before.length > 0 &&
  (after.length === 0 || after.some((one) => !before.includes(one)))

/** Names of the members that `after` would weaken. */
const weakened = (before: Policy, after: Policy, call: Call): string[] => {
  const { proof, recoveryDelayMs } = devicePolicyOf(before, call.service)
  const checks: [keyof Policy, boolean][] = [
    [
      'recovery_delay_s',
      after.recovery_delay_s !== undefined && after.recovery_delay_s * 1000 < recoveryDelayMs,
    ],
    ['device_proof', after.device_proof === 'link' && proof === 'otp'],
    ['attestation', after.attestation === 'none' && before.attestation === 'direct'],
    ['allowed_aaguids', isLonger(before.allowed_aaguids, after.allowed_aaguids)],
    ['authenticators', isLonger(before.authenticators, after.authenticators)],
    ['device_bound_only', after.device_bound_only === false && before.device_bound_only === true],
    ['separation', after.separation === 'standard' && before.separation === 'strict'],
    ['not_requester', after.not_requester === false && before.not_requester === true],
    ['require_number', after.require_number === false && before.require_number === true],
    ['session_max_s', (after.session_max_s ?? 0) > sessionMaxOf(before)],
  ]
  return checks.flatMap(([name, isWeaker]) => (isWeaker ? [name] : []))
}

/** Throws 403 if a key other than the operator's would weaken one of these members. */
export const refuseWeaker = (call: Call, before: Policy, after: Policy | undefined): void => {
  if (after === undefined || isOperator(call.caller)) return
  const members = weakened(before, after, call).map((name) => `policy.${name}`)
  if (members.length === 0) return
  throw new Refusal(403, 'policy_protected', `Only an operator key can weaken ${members.join(', ')}`, {
    issues: members.map((field) => ({ field, message: 'can be weakened only with an operator key' })),
    hint: 'It protects the organization against its own keys. Ask the operator of the service',
  })
}
