import { assert } from '../../src/client/software-authenticator.ts'
import { challengeOf } from '../../src/receipt/context.ts'
import { request, type EnrolledApprover } from './enrolled-approver.ts'

/** A person who verified on the phone, not yet requested by anybody, with an unused token. */
export const verifyPerson = async (
  baseUrl: string,
  key: string,
  org_id: number,
  { mobile, authenticator }: EnrolledApprover,
): Promise<{ user: string; token: string; verification: string }> => {
  // The geofences and time slots of the organization allow every place and time.
  const policy = { report_only: ['location', 'time'] }
  await request(baseUrl, 'updateOrganization', key, { org_id, policy })
  const started = await request(baseUrl, 'generateAuthToken', key, { org_id, mobile })
  const number = { country_code: '+1', mobile: mobile.slice(2) }
  const { request_id } = await request(baseUrl, 'verifyUser', key, { org_id, ...number })
  const { contexts, origin, rp_id } = await request(baseUrl, 'getCeremony', key, { request_id })
  const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
  const response = assert(authenticator, { challenge, origin, rpId: rp_id })
  await request(baseUrl, 'decideApproval', key, { request_id, decision: 'approve', response })
  return { user: started.user_id, token: started.auth_token, verification: request_id }
}
