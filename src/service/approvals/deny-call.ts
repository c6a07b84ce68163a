import type { Call } from '../call/call.ts'
import { ofMember } from '../call/tenant.ts'
import { type ApprovalRow, auditSubject } from './record.ts'

/** The end of the detail of a request that another approver of the same call denied. */
export const deniedByOther = 'denied this'

/**
 * Ends the other requests for a call that a rule holds: those that wait, and an approval that was not used. They lose their
 * MAC, so that nothing puts the approval back.
 */
export const endOthers = async (
  call: Call,
  row: Pick<ApprovalRow, 'request_id' | 'org_id' | 'asked_by' | 'subject_digest'>,
  detail: string,
  actor?: string,
): Promise<void> => {
  const ended = await call.db
    .updateTable('approvals')
    .set({ status: 'expired', detail, ended_at: call.now, use_by: null, row_mac: null })
    .where('org_id', '=', row.org_id)
    .where('asked_by', '=', row.asked_by)
    .where('subject_digest', '=', row.subject_digest)
    .where('by_rule', '=', 1)
    .where('request_id', '<>', row.request_id)
    .where('status', 'in', ['pending', 'approved'])
    .where('used_at', 'is', null)
    .returning(['request_id', 'org_id', 'user_id'])
    .execute()
  for (const one of ended) {
    await call.audit(one.org_id, auditSubject(one.request_id), ['status', 'withdrawn'], actor)
    call.wake(one)
  }
}

/** Ends a call that a rule holds after one approver denied it. The others read who denied it. */
export const denyCall = async (call: Call, row: ApprovalRow, actor: string): Promise<void> => {
  if (row.by_rule !== 1) return
  const person = await call.db
    .selectFrom('memberships')
    .where(ofMember(row))
    .select(['first_name', 'last_name'])
    .executeTakeFirst()
  const name = person ? `${person.first_name} ${person.last_name}` : `User ${row.user_id}`
  await endOthers(call, row, `${name} ${deniedByOther}`, actor)
}
