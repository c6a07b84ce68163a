import { approve, request, type EnrolledApprover } from './enrolled-approver.ts'

/** A person who verified on the phone, not yet requested by anybody, with an unused token. */
export const verifyPerson = async (
  baseUrl: string,
  key: string,
  org_id: number,
  approver: EnrolledApprover,
): Promise<{ user: string; token: string; verification: string }> => {
  // The geofences and time slots of the organization allow every place and time.
  const policy = { report_only: ['location', 'time'] }
  await request(baseUrl, 'updateOrganization', key, { org_id, policy })
  const started = await request(baseUrl, 'generateAuthToken', key, {
    org_id,
    mobile: approver.mobile,
  })
  const number = { country_code: '+1', mobile: approver.mobile.slice(2) }
  const { request_id } = await request(baseUrl, 'verifyUser', key, { org_id, ...number })
  await approve(baseUrl, key, request_id, approver)
  return { user: started.user_id, token: started.auth_token, verification: request_id }
}
