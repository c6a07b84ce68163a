import type { Policy } from '../../contract/policy.ts'
import { normalizeNetwork } from '../../rules/network.ts'
import { invalid } from '../../core/refusal.ts'

/** Networks in one spelling, nothing twice; 422 names the entry that is no network. */
export const checkPolicy = (policy: Policy): Policy => {
  const { ip_allow, factors, report_only, allowed_aaguids, ...switches } = policy
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
    ...(report_only && { report_only: [...new Set(report_only)] }),
    ...(allowed_aaguids && { allowed_aaguids: [...new Set(allowed_aaguids.map((id) => id.toLowerCase()))] }),
  }
}
