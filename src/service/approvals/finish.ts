import type { device } from '../../contract/device.ts'
import { addMs } from '../../core/iso-time.ts'
import { conflict, notFound, Refusal } from '../../core/refusal.ts'
import type { FactorResult, Receipt } from '../../receipt/claims.ts'
import type { Call } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import { ofActiveMember } from '../call/tenant.ts'
import { ofActiveDevice } from '../devices/active.ts'
import { inactiveDevice } from '../devices/record.ts'
import { type DeviceRow, noteOnDevices } from '../devices/rows.ts'
import { expireDue, lapsed, ofLiveKey } from './expiry.ts'
import { muteRequester } from './limits.ts'
import { type ApprovalRow, selectApprovals, subjectOf } from './record.ts'

/** A decision that is verified, and may still come too late. */
export type VerifiedDecision = {
  row: ApprovalRow
  device: Pick<DeviceRow, 'id' | 'counter' | 'kind' | 'row_mac'>
  /** What the authenticator has counted to. */
  counter: number
  decidedAt: string
  input: Pick<RowInput<typeof device.decideApproval>, 'decision' | 'not_me'>
  /** What the rules found, for the record; who is refused by them has no receipt that says it. */
  ruling: FactorResult[]
  attestation: Receipt | null
}

const triesAtMost = 2

/** The one condition under which a decision counts, in the statement itself: whatever changed meanwhile is seen. */
const decidable = (call: Call, { row, device, counter }: VerifiedDecision) =>
  call.db
    .updateTable('approvals')
    .where('request_id', '=', row.request_id)
    .where('org_id', '=', row.org_id)
    .where('status', '=', 'pending')
    .where('expires_at', '>', call.now)
    .where('format', '=', 2)
    .where(ofActiveMember('approvals'))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('devices as d')
          .whereRef('d.org_id', '=', 'approvals.org_id')
          .whereRef('d.user_id', '=', 'approvals.user_id')
          .where('d.id', '=', device.id)
          // The row that was found to be authentic.
          .where('d.row_mac', '=', device.row_mac)
          .where(ofActiveDevice('d'))
          .where((one) =>
            one.or([one('d.counter', '<', counter), one('d.counter', '=', counter === 0 ? 0 : -1)]),
          )
          .$if(!call.dev, (query) => query.where('d.kind', '=', 'phone'))
          .select('d.id'),
      ),
    )
    .where(ofLiveKey(call.now))

const noteUse = async (call: Call, { row, device, counter, decidedAt }: VerifiedDecision): Promise<void> => {
  await noteOnDevices(call.db, { counter, last_used_at: decidedAt })
    .where('id', '=', device.id)
    .where('org_id', '=', row.org_id)
    .execute()
}

/** Why a request that was found cannot be ended: as it is now, whoever asks. */
export const alreadyEnded = (row: Pick<ApprovalRow, 'status' | 'detail'>): Refusal =>
  row.status === 'expired'
    ? lapsed(row.detail)
    : conflict(`already_${row.status}`, `The request is ${row.status} already; a decision stays as it is`)

/** Looked for only after the statement said no. To be returned and not thrown: an expiry is made durable here. */
const whyNot = async (call: Call, { row, device }: VerifiedDecision): Promise<Refusal> => {
  const { db, now } = call
  const present = await selectApprovals(db, { orgId: row.org_id })
    .where('a.request_id', '=', row.request_id)
    .executeTakeFirst()
  if (!present) return notFound('Approval request')
  if (present.status !== 'pending') return alreadyEnded(present)
  const [ended] = await expireDue(db, now, { request_id: row.request_id })
  if (ended) {
    call.wake(ended)
    return lapsed(ended.detail)
  }
  const member = await db
    .selectFrom('memberships')
    .where('org_id', '=', row.org_id)
    .where('user_id', '=', row.user_id)
    .select('state')
    .executeTakeFirst()
  if (member?.state !== 'active')
    return new Refusal(
      403,
      'approver_not_active',
      'The approver is no active user of the organization any more',
    )
  const kept = await db
    .selectFrom('devices')
    .where('org_id', '=', row.org_id)
    .where('id', '=', device.id)
    .select(['id', 'state', 'proof', 'active_from'])
    .executeTakeFirst()
  if (kept?.state !== 'active')
    return inactiveDevice(kept ?? { id: device.id, state: 'revoked', proof: 'link', active_from: null })
  return new Refusal(403, 'assertion_refused', 'The signature of the device was used before')
}

const actorOf = ({ row, device }: VerifiedDecision): string => `user:${row.user_id} (device ${device.id})`

/** Ends a request as decided, or as denied for the reason `refused`; a Refusal is answered, as a part of it may stay. */
export const finishApproval = async (
  call: Call,
  verdict: VerifiedDecision,
  refused?: string,
): Promise<ApprovalRow | Refusal> => {
  const { row, device, decidedAt, input, ruling, attestation } = verdict
  const approved = input.decision === 'approve' && refused === undefined
  // Without a receipt there is no approval: the request had ended when the decision came.
  if (approved && !attestation) return whyNot(call, verdict)
  const ended = await decidable(call, verdict)
    .set({
      status: approved ? 'approved' : 'denied',
      detail: refused ?? (input.not_me ? 'the approver did not expect this request' : null),
      decided_at: decidedAt,
      ended_at: call.now,
      device_id: device.id,
      ruling: JSON.stringify(ruling),
      attestation: attestation && JSON.stringify(attestation),
      use_by: approved ? addMs(decidedAt, row.use_within_s * 1000) : null,
    })
    .returningAll()
    .executeTakeFirst()
  if (!ended) return whyNot(call, verdict)
  await noteUse(call, verdict)
  if (input.not_me) await muteRequester(call, row)
  const changes = ['status', ...(input.not_me ? ['not_me'] : [])]
  await call.audit(row.org_id, subjectOf(row.request_id), changes, actorOf(verdict))
  call.wake(row)
  return refused === undefined ? ended : new Refusal(403, 'denied', `Denied: ${refused}`)
}

/** Counts a wrong number; the last one that is allowed denies. The count commits, whatever is answered. */
export const countWrongNumber = async (call: Call, verdict: VerifiedDecision): Promise<Refusal> => {
  const { row, device } = verdict
  const counted = await decidable(call, verdict)
    .set(({ eb }) => ({ number_tries: eb('number_tries', '+', 1) }))
    .returning('number_tries')
    .executeTakeFirst()
  if (!counted) return whyNot(call, verdict)
  await noteUse(call, verdict)
  const subject = subjectOf(row.request_id)
  if (counted.number_tries < triesAtMost) {
    await call.audit(row.org_id, subject, ['number_tries'], actorOf(verdict))
    return new Refusal(422, 'wrong_number', 'This is not the number that the requester shows', {
      issues: [{ field: 'number', message: 'is not the number that the requester shows' }],
      hint: 'One more try; after another wrong number the request is denied',
    })
  }
  await call.db
    .updateTable('approvals')
    .set({
      status: 'denied',
      detail: 'denied by the service: a wrong number was typed twice',
      decided_at: verdict.decidedAt,
      ended_at: call.now,
      device_id: device.id,
    })
    .where('request_id', '=', row.request_id)
    .where('org_id', '=', row.org_id)
    .where('status', '=', 'pending')
    .execute()
  await call.audit(row.org_id, subject, ['number_tries', 'status'], actorOf(verdict))
  call.wake(row)
  return new Refusal(403, 'denied', 'Denied: a wrong number was typed twice')
}
