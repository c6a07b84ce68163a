import { sql } from 'kysely'
import type { Refusal } from '../../core/refusal.ts'
import { createRecent } from '../../core/recent.ts'
import { forbidden } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { ofActiveMember, ofMember } from '../call/tenant.ts'
import { ofActiveDevice } from '../devices/active.ts'
import { findDevice, inactiveDevice } from '../devices/record.ts'
import { noteOnDevices } from '../devices/rows.ts'
import { requestNotAuthentic } from './authentic.ts'
import { isGenuine } from './genuine.ts'
import { findBallot } from './ballots.ts'
import { isSeveral } from './completion.ts'
import { expireDue, hasLiveKey, requestExpired } from './expiry.ts'
import type { FactorResult, Receipt } from '../../receipt/claims.ts'
import type { RowInput } from '../call/row-ids.ts'
import type { DeviceRow } from '../devices/rows.ts'
import type { BallotRow } from './rows.ts'
import { alreadyAnswered, alreadyEnded, isRepeated, repeatedOutcome } from './posted-decision.ts'
import type { ApprovalRow } from './rows.ts'
import { findApproval } from './record.ts'

// The answer of one person, as one conditional statement on their ballot.

/** A decision that is verified, but may still be too late. */
export type VerifiedDecision = {
  row: ApprovalRow
  ballot: BallotRow
  device: Pick<DeviceRow, 'id' | 'counter' | 'kind' | 'row_mac' | 'state' | 'bound_at'>
  /** The signature counter of the authenticator. */
  counter: number
  /** Whether the key was copied to other devices. */
  backedUp: boolean
  decidedAt: string
  input: Pick<RowInput<'decideApproval'>, 'decision' | 'not_me' | 'note' | 'grant'>
  /** The results of the rules, stored because a decision that they refuse has no receipt. */
  ruling: FactorResult[]
  attestation: Receipt | null
  /** Of the decision as it was posted. */
  digest: string
}

/** Every condition of an answer, in the statement itself, so that it sees all that has changed since. */
const answerable = (call: Call, { row, ballot, device, counter, digest }: VerifiedDecision) =>
  call.db
    .updateTable('ballots')
    .where('id', '=', ballot.id)
    .where('org_id', '=', row.org_id)
    // The row that was found authentic.
    .where('row_mac', '=', ballot.row_mac)
    .where('status', '=', 'pending')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('approvals')
          .whereRef('approvals.request_id', '=', 'ballots.request_id')
          .whereRef('approvals.org_id', '=', 'ballots.org_id')
          .where('approvals.row_mac', '=', row.row_mac)
          .where('approvals.status', '=', 'pending')
          .where('approvals.expires_at', '>', call.now)
          .where(hasLiveKey(call.now))
          .select('approvals.id'),
      ),
    )
    .where(ofActiveMember('ballots'))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('devices as d')
          .whereRef('d.org_id', '=', 'ballots.org_id')
          .whereRef('d.user_id', '=', 'ballots.user_id')
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
    // Of the row that was proven, too: another program could make it active for this statement.
    .where(sql.lit(device.state === 'active' && device.bound_at !== null))
    // A repeat is not another try.
    .where((one) => one.or([one('decision_digest', 'is', null), one('decision_digest', '<>', digest)]))
    .set({ decision_digest: digest })

const noteUse = async (call: Call, { row, device, counter, backedUp, decidedAt }: VerifiedDecision) => {
  await noteOnDevices(call.db, { counter, backed_up: backedUp ? 1 : 0, last_used_at: decidedAt })
    .where('id', '=', device.id)
    .where('org_id', '=', row.org_id)
    .execute()
}

const answerOf = (
  call: Call,
  { row, ballot, device, decidedAt, attestation }: VerifiedDecision,
  status: 'approved' | 'denied',
) => {
  const values = {
    status,
    decided_at: decidedAt,
    device_id: device.id,
    // The receipt of the only person is that of the request.
    attestation: status === 'approved' && isSeveral(row) ? JSON.stringify(attestation) : null,
  }
  return { ...values, row_mac: call.keyring.macOf('ballots', { ...ballot, ...values }) }
}

const rowNow = (call: Call, { row }: VerifiedDecision): Promise<ApprovalRow> =>
  findApproval(call.db, row.request_id, { orgId: row.org_id })

/** As it is in this transaction. What is written from it gets a MAC, so another program must not have changed it since. */
const authenticNow = async (call: Call, decision: VerifiedDecision): Promise<ApprovalRow> => {
  const row = await rowNow(call, decision)
  if (!isGenuine(row, call)) throw requestNotAuthentic('decided')
  return row
}

/** Stores the answer. Returns the request as it is in this transaction, or undefined if the answer does not count. */
export const answerBallot = async (
  call: Call,
  decision: VerifiedDecision,
  status: 'approved' | 'denied',
): Promise<ApprovalRow | undefined> => {
  const answered = await answerable(call, decision)
    .set(answerOf(call, decision, status))
    .returning('id')
    .executeTakeFirst()
  if (!answered) return undefined
  await noteUse(call, decision)
  return isSeveral(decision.row) ? authenticNow(call, decision) : decision.row
}

/** The wrong numbers that this process saw, by ballot: whoever writes to the store cannot take them back. */
const seenTries = createRecent<string, number>(10_000)

/** Counts a wrong number. Returns how many there were, or undefined if the answer does not count. */
export const countTry = async (call: Call, decision: VerifiedDecision): Promise<number | undefined> => {
  const counted = await answerable(call, decision)
    .set(({ eb }) => ({ number_tries: eb('number_tries', '+', 1) }))
    .returning('number_tries')
    .executeTakeFirst()
  if (!counted) return undefined
  await noteUse(call, decision)
  const { request_id, user_id } = decision.ballot
  const ballot = `${request_id} ${user_id}`
  const tries = Math.max(counted.number_tries, (seenTries.get(call.keyring, ballot) ?? 0) + 1)
  call.afterCommit(() => seenTries.set(call.keyring, ballot, tries))
  return tries
}

/** Denies after the last try, which this transaction has counted. */
export const denyAfterTries = async (call: Call, decision: VerifiedDecision): Promise<ApprovalRow> => {
  await call.db
    .updateTable('ballots')
    .set(answerOf(call, decision, 'denied'))
    .where('id', '=', decision.ballot.id)
    .where('org_id', '=', decision.row.org_id)
    .execute()
  return authenticNow(call, decision)
}

/**
 * Why `answerable` matched no ballot, unless it was this decision that answered it. The caller returns it and does not throw it: an
 * expiry is committed here.
 */
export const notAnswerable = async (
  call: Call,
  decision: VerifiedDecision,
): Promise<ApprovalRow | Refusal> => {
  const { db, now } = call
  const { ballot, device, digest, input } = decision
  const row = await rowNow(call, decision)
  const present = await findBallot(db, row, ballot.user_id)
  if (isRepeated(present, digest)) return repeatedOutcome(call, { row, ballot: present }, input.decision)
  if (row.status !== 'pending') return alreadyEnded(row)
  if (present.status !== 'pending') return alreadyAnswered(present)
  const [ended] = await expireDue(call, now, { request_id: row.request_id })
  if (ended) {
    call.wake(ended)
    return requestExpired(ended.detail)
  }
  const member = await db.selectFrom('memberships').where(ofMember(ballot)).select('state').executeTakeFirst()
  if (member?.state !== 'active')
    return forbidden('approver_not_active', 'The approver is no longer an active user of the organization')
  const found = await findDevice(call, row.org_id, device.id)
  if (found.state !== 'active') return inactiveDevice(found)
  return forbidden('assertion_refused', 'The signature of the device was used before')
}
