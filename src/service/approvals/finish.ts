import type { device } from '../../contract/device.ts'
import { addMs } from '../../core/iso-time.ts'
import { forbidden, notFound, type Refusal } from '../../core/refusal.ts'
import type { FactorResult, Receipt } from '../../receipt/claims.ts'
import type { Call } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import type { Decided } from '../call/signals/signals.ts'
import { ofActiveMember, ofMember } from '../call/tenant.ts'
import { ofActiveDevice } from '../devices/active.ts'
import { inactiveDevice } from '../devices/record.ts'
import { type DeviceRow, noteOnDevices } from '../devices/rows.ts'
import { denyCall } from './deny-call.ts'
import { expireDue, hasLiveKey, requestExpired } from './expiry.ts'
import {
  alreadyEnded,
  deniedBy,
  isRepeated,
  repeatedOutcome,
  wrongNumber,
  wrongTwice,
} from './posted-decision.ts'
import { type ApprovalRow, auditSubject, selectApprovals } from './record.ts'
import { reportRequester } from './report.ts'

/** A decision that is verified, but may still be too late. */
export type VerifiedDecision = {
  row: ApprovalRow
  device: Pick<DeviceRow, 'id' | 'counter' | 'kind' | 'row_mac'>
  /** The signature counter of the authenticator. */
  counter: number
  /** Whether the key was copied to other devices. */
  backedUp: boolean
  decidedAt: string
  input: Pick<RowInput<typeof device.decideApproval>, 'decision' | 'not_me' | 'note'>
  /** The results of the rules, stored because a decision that they refuse has no receipt. */
  ruling: FactorResult[]
  attestation: Receipt | null
  /** Of the decision as it was posted. */
  digest: string
}

const maxAttempts = 2

/** Every condition of a decision, in the statement itself, so that it sees all that has changed since. */
const decidable = (call: Call, { row, device, counter, digest }: VerifiedDecision) =>
  call.db
    .updateTable('approvals')
    .where('request_id', '=', row.request_id)
    .where('org_id', '=', row.org_id)
    // The row that was found authentic.
    .where('row_mac', '=', row.row_mac)
    .where('status', '=', 'pending')
    .where('expires_at', '>', call.now)
    .where(ofActiveMember('approvals'))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('devices as d')
          .whereRef('d.org_id', '=', 'approvals.org_id')
          .whereRef('d.user_id', '=', 'approvals.user_id')
          .where('d.id', '=', device.id)
          // The row that was found authentic.
          .where('d.row_mac', '=', device.row_mac)
          .where(ofActiveDevice('d'))
          .where((one) =>
            one.or([one('d.counter', '<', counter), one('d.counter', '=', counter === 0 ? 0 : -1)]),
          )
          .$if(!call.service.dev, (query) => query.where('d.kind', '=', 'phone'))
          .select('d.id'),
      ),
    )
    .where(hasLiveKey(call.now))
    // A repeat is not another try.
    .where((one) => one.or([one('decision_digest', 'is', null), one('decision_digest', '<>', digest)]))
    .set({ decision_digest: digest })

const noteUse = async (
  call: Call,
  { row, device, counter, backedUp, decidedAt }: VerifiedDecision,
): Promise<void> => {
  await noteOnDevices(call.db, { counter, backed_up: backedUp ? 1 : 0, last_used_at: decidedAt })
    .where('id', '=', device.id)
    .where('org_id', '=', row.org_id)
    .execute()
}

/**
 * Why `decidable` matched no row, unless it was this decision that ended the request. The caller returns it and does not throw
 * it: an expiry is committed here.
 */
const notDecidable = async (
  call: Call,
  { row, device, digest, input }: VerifiedDecision,
): Promise<ApprovalRow | Refusal> => {
  const { db, now } = call
  const present = await selectApprovals(db, { orgId: row.org_id })
    .where('a.request_id', '=', row.request_id)
    .executeTakeFirst()
  if (!present) return notFound('Approval request')
  if (isRepeated(present, digest)) return repeatedOutcome(call, present, input.decision)
  if (present.status !== 'pending') return alreadyEnded(present)
  const [ended] = await expireDue(db, now, { request_id: row.request_id })
  if (ended) {
    call.wake(ended)
    return requestExpired(ended.detail)
  }
  const member = await db.selectFrom('memberships').where(ofMember(row)).select('state').executeTakeFirst()
  if (member?.state !== 'active')
    return forbidden('approver_not_active', 'The approver is no longer an active user of the organization')
  const found = await db
    .selectFrom('devices')
    .where('org_id', '=', row.org_id)
    .where('id', '=', device.id)
    .select(['id', 'org_id', 'user_id', 'state', 'proof', 'active_from'])
    .executeTakeFirst()
  if (found?.state !== 'active')
    return inactiveDevice(
      found ?? {
        org_id: row.org_id,
        user_id: row.user_id,
        id: device.id,
        state: 'revoked',
        proof: 'link',
        active_from: null,
      },
    )
  return forbidden('assertion_refused', 'The signature of the device was used before')
}

const actorOf = ({ row, device }: VerifiedDecision): string => `user:${row.user_id} (device ${device.id})`

/** The end of the detail of a request that its approver reported. */
export const unexpected = 'the approver did not expect this request'

/** Quoted as JSON, so that the note cannot look as if it ended before its end. */
const detailOf = ({ not_me, note }: VerifiedDecision['input']): string | null =>
  [
    ...(note === undefined ? [] : [`Denied: ${JSON.stringify(note)} (the approver's words)`]),
    ...(not_me ? [unexpected] : []),
  ].join('; ') || null

/** Ends a request as decided, or as denied with the reason `refused`. A Refusal is returned, so that writes commit. */
export const finishApproval = async (
  call: Call,
  decision: VerifiedDecision,
  refused?: string,
): Promise<ApprovalRow | Refusal> => {
  const { row, device, decidedAt, input, ruling, attestation } = decision
  const approved = input.decision === 'approve' && refused === undefined
  // Without a receipt there is no approval: the request had already ended.
  if (approved && !attestation) return notDecidable(call, decision)
  const status: Decided['status'] = approved ? 'approved' : 'denied'
  const use_by = approved ? addMs(decidedAt, row.use_within_s * 1000) : null
  const ended = await decidable(call, decision)
    .set({
      status,
      detail: refused ?? detailOf(input),
      note: input.note ?? null,
      decided_at: decidedAt,
      ended_at: call.now,
      device_id: device.id,
      ruling: JSON.stringify(ruling),
      attestation: attestation && JSON.stringify(attestation),
      use_by,
      row_mac: call.keyring.macOf('approvals', { ...row, use_by }),
    })
    .returningAll()
    .executeTakeFirst()
  if (!ended) return notDecidable(call, decision)
  await noteUse(call, decision)
  const changes = [
    'status',
    approved ? 'approved' : 'denied',
    ...(input.not_me ? ['not_me'] : []),
    ...(input.note === undefined ? [] : ['note']),
  ]
  await call.audit(row.org_id, auditSubject(row.request_id), changes, actorOf(decision))
  if (!approved) await denyCall(call, row, actorOf(decision))
  if (input.not_me) await reportRequester(call, row, actorOf(decision))
  const { request_id, org_id, user_id, requested_at } = row
  const seconds = (Date.parse(decidedAt) - Date.parse(requested_at)) / 1000
  call.wake({ request_id, org_id, user_id, decided: { status, seconds } })
  return refused === undefined ? ended : deniedBy(refused)
}

/** Counts a wrong number, and denies after the last attempt. The count is committed in any case. */
export const countWrongNumber = async (
  call: Call,
  decision: VerifiedDecision,
): Promise<ApprovalRow | Refusal> => {
  const { row, device } = decision
  const counted = await decidable(call, decision)
    .set(({ eb }) => ({ number_tries: eb('number_tries', '+', 1) }))
    .returning('number_tries')
    .executeTakeFirst()
  if (!counted) return notDecidable(call, decision)
  await noteUse(call, decision)
  const subject = auditSubject(row.request_id)
  if (counted.number_tries < maxAttempts) {
    await call.audit(row.org_id, subject, ['number_tries'], actorOf(decision))
    return wrongNumber()
  }
  await call.db
    .updateTable('approvals')
    .set({
      status: 'denied',
      detail: wrongTwice,
      decided_at: decision.decidedAt,
      ended_at: call.now,
      device_id: device.id,
    })
    .where('request_id', '=', row.request_id)
    .where('org_id', '=', row.org_id)
    .where('status', '=', 'pending')
    .execute()
  await call.audit(row.org_id, subject, ['number_tries', 'status', 'denied'], actorOf(decision))
  await denyCall(call, row, actorOf(decision))
  call.wake(row)
  return deniedBy(wrongTwice)
}
