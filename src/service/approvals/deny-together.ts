import type { Call } from '../call/call.ts'
import { type Member, ofActiveMember, ofMember } from '../call/tenant.ts'
import { noteOnDevices } from '../devices/rows.ts'
import { denyCall } from './deny-call.ts'
import { deniedTogether, hasLiveKey } from './expiry.ts'
import { auditSubject } from './record.ts'

/**
 * Denies requests to a member whose device signed for all of them at once. A receipt requires a signature for each request,
 * so these have none. Requests that have ended are left alone. Returns the ids of those that this device denied, also of
 * those that it denied in an earlier call whose answer was lost.
 */
export const denyTogether = async (
  call: Call,
  member: Member & { device_id: number },
  requests: readonly string[],
  actor: string,
): Promise<string[]> => {
  const { db, now } = call
  const { device_id } = member
  const denied = await db
    .updateTable('approvals')
    .set({ status: 'denied', detail: deniedTogether, decided_at: now, ended_at: now, device_id })
    .where(ofMember(member))
    .where('request_id', 'in', [...requests])
    .where('status', '=', 'pending')
    .where('expires_at', '>', now)
    .where(ofActiveMember('approvals'))
    .where(hasLiveKey(now))
    .returningAll()
    .execute()
  await noteOnDevices(db, { last_used_at: now })
    .where('id', '=', device_id)
    .where('org_id', '=', member.org_id)
    .execute()
  for (const row of denied) {
    const { requested_at, request_id, org_id, user_id } = row
    const request = { request_id, org_id, user_id }
    await call.audit(member.org_id, auditSubject(request.request_id), ['status', 'denied'], actor)
    await denyCall(call, row, actor)
    const seconds = (Date.parse(now) - Date.parse(requested_at)) / 1000
    call.wake({ ...request, decided: { status: 'denied', seconds } })
  }
  if (denied.length === 0) await call.audit(member.org_id, `device:${device_id}`, ['last_used_at'], actor)
  const all = await db
    .selectFrom('approvals')
    .where(ofMember(member))
    .where('request_id', 'in', [...requests])
    .where('device_id', '=', device_id)
    .where('status', '=', 'denied')
    .where('detail', '=', deniedTogether)
    .select('request_id')
    .execute()
  const ids = new Set(all.map(({ request_id }) => request_id))
  return requests.filter((one) => ids.has(one))
}
