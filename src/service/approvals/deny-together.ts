import type { Call } from '../call/call.ts'
import { type Member, ofActiveMember, ofMember } from '../call/tenant.ts'
import { noteOnDevices } from '../devices/rows.ts'
import { deniedTogether, hasLiveKey } from './expiry.ts'
import { wakeOf, withAnswer } from './lines.ts'
import { type ApprovalRow, endPending } from './rows.ts'
import { auditSubject, findApproval } from './record.ts'

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
  const { db, now, keyring } = call
  const { device_id, org_id, user_id } = member
  const ballots = await db
    .selectFrom('ballots')
    .innerJoin('approvals', 'approvals.request_id', 'ballots.request_id')
    .where(ofMember(member, 'ballots'))
    .where('ballots.request_id', 'in', [...requests])
    .where('ballots.status', '=', 'pending')
    .where('approvals.status', '=', 'pending')
    .where('approvals.expires_at', '>', now)
    .where(ofActiveMember('ballots'))
    .where(hasLiveKey(now))
    .selectAll('ballots')
    .execute()
  const denied: ApprovalRow[] = []
  // One that another program has changed gets no new MAC.
  for (const ballot of ballots.filter((one) => keyring.holds('ballots', one))) {
    const answer = { status: 'denied', decided_at: now, device_id } as const
    await db
      .updateTable('ballots')
      .set({ ...answer, row_mac: keyring.macOf('ballots', { ...ballot, ...answer }) })
      .where('id', '=', ballot.id)
      .where('org_id', '=', org_id)
      .execute()
    const row = await findApproval(db, ballot.request_id, { orgId: org_id })
    const answers = withAnswer(row, [user_id, 'denied', now])
    const ended = await endPending(call, row, {
      status: 'denied',
      detail: deniedTogether,
      decided_at: now,
      ended_at: now,
      decided_by: user_id,
      answers,
    })
      .returningAll()
      .executeTakeFirstOrThrow()
    denied.push(ended)
  }
  await noteOnDevices(db, { last_used_at: now })
    .where('id', '=', device_id)
    .where('org_id', '=', member.org_id)
    .execute()
  for (const row of denied) {
    await call.audit(org_id, auditSubject(row.request_id), ['status', 'denied'], actor)
    const seconds = (Date.parse(now) - Date.parse(row.requested_at)) / 1000
    call.wake({ ...wakeOf(row), decided: { status: 'denied', seconds } })
  }
  if (denied.length === 0) await call.audit(org_id, `device:${device_id}`, ['last_used_at'], actor)
  const all = await db
    .selectFrom('ballots as b')
    .innerJoin('approvals as a', 'a.request_id', 'b.request_id')
    .where(ofMember(member, 'b'))
    .where('b.request_id', 'in', [...requests])
    .where('b.device_id', '=', device_id)
    .where('b.status', '=', 'denied')
    .where('a.detail', '=', deniedTogether)
    .select('b.request_id')
    .execute()
  const ids = new Set(all.map(({ request_id }) => request_id))
  return requests.filter((one) => ids.has(one))
}
