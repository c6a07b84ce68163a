import { addMs } from '../../core/iso-time.ts'
import { forbidden, type Refusal } from '../../core/refusal.ts'
import type { Receipt } from '../../receipt/claims.ts'
import type { Call } from '../call/call.ts'
import { nameOf } from '../devices/notices.ts'
import { type VerifiedDecision, answerBallot, countTry, denyAfterTries, notAnswerable } from './answer.ts'
import { tellOfApproval } from './emergency-notices.ts'
import { addGrant } from './grants.ts'
import { asksGroup, completedSet, isSeveral, tally } from './completion.ts'
import { wakeOf, withAnswer } from './lines.ts'
import { deniedBy, wrongNumber, wrongTwice } from './posted-decision.ts'
import { type ApprovalRow, endPending, updatePending } from './rows.ts'
import { auditSubject } from './record.ts'
import { reportRequester, unexpected } from './report.ts'
import { tooFewLeft } from './shrunk-pools.ts'

const maxAttempts = 2

export const actorOf = ({ ballot, device }: VerifiedDecision): string =>
  `user:${ballot.user_id} (device ${device.id})`

/** Who denied a request that asks others too, which they read. The only person who is asked needs no name. */
const denierOf = async (call: Call, { row, ballot }: VerifiedDecision): Promise<string | undefined> =>
  isSeveral(row) ? `${await nameOf(call.db, ballot)} denied this` : undefined

/** Quoted as JSON, so that the note cannot look as if it ended before its end. */
const detailOf = ({ not_me, note }: VerifiedDecision['input'], denier: string | undefined): string | null =>
  [
    ...(denier === undefined ? [] : [denier]),
    ...(note === undefined ? [] : [`Denied: ${JSON.stringify(note)} (the approver's words)`]),
    ...(not_me ? [unexpected] : []),
  ].join('; ') || null

type End = Partial<
  Pick<ApprovalRow, 'detail' | 'note' | 'use_by' | 'ruling' | 'attestation' | 'granted_until'>
> & {
  status: 'approved' | 'denied' | 'expired'
}

/** Ends a pending request with this ballot, whose answer was stored in this transaction. */
const end = async (call: Call, decision: VerifiedDecision, values: End): Promise<ApprovalRow> => {
  const { row, ballot, decidedAt, ruling, input } = decision
  const answer = values.status === 'denied' ? 'denied' : 'approved'
  const answers = withAnswer(row, [ballot.user_id, answer, decidedAt])
  const ended = await endPending(call, row, {
    ruling: JSON.stringify(ruling),
    ...values,
    answers,
    decided_at: decidedAt,
    ended_at: call.now,
    decided_by: ballot.user_id,
  })
    .returningAll()
    .executeTakeFirstOrThrow()
  const { status } = values
  const changes = [
    'status',
    status,
    ...(input.not_me ? ['not_me'] : []),
    ...(input.note === undefined ? [] : ['note']),
    ...(values.granted_until === undefined ? [] : ['granted_until']),
  ]
  await call.audit(row.org_id, auditSubject(row.request_id), changes, actorOf(decision))
  const seconds = (Date.parse(decidedAt) - Date.parse(row.requested_at)) / 1000
  call.wake({ ...wakeOf(row), ...(status !== 'expired' && { decided: { status, seconds } }) })
  if (status === 'approved') await tellOfApproval(call, ended)
  return ended
}

/** Stores a yes while others are still asked. */
const noteYes = async (call: Call, decision: VerifiedDecision): Promise<ApprovalRow> => {
  const { row, ballot, decidedAt } = decision
  const answers = withAnswer(row, [ballot.user_id, 'approved', decidedAt])
  const noted = await updatePending(call.db, row)
    .set({ answers, row_mac: call.keyring.macOf('approvals', { ...row, answers }) })
    .returningAll()
    .executeTakeFirstOrThrow()
  await call.audit(row.org_id, auditSubject(row.request_id), ['answers'], actorOf(decision))
  call.wake(wakeOf(row))
  return noted
}

const leftGroup = (): Refusal =>
  forbidden(
    'not_in_group',
    'This person is no longer in the group that was asked, so their approval does not count',
    'Others of the group can approve. Denying the request is always possible',
  )

/** Counts a yes, and completes the request if every line now has enough people. */
const approve = async (call: Call, decision: VerifiedDecision, receipt: Receipt): Promise<ApprovalRow> => {
  const { row, decidedAt, input } = decision
  const use_by = addMs(decidedAt, row.use_within_s * 1000)
  const approved = async (attestation: object): Promise<ApprovalRow> =>
    end(call, decision, {
      status: 'approved',
      use_by,
      attestation: JSON.stringify(attestation),
      ...(input.grant && { granted_until: await addGrant(call, decision) }),
    })
  if (!isSeveral(row) && !asksGroup(row)) return approved(receipt)
  const counted = await tally(call, row)
  if (!counted.isPossible) return end(call, decision, { status: 'expired', detail: tooFewLeft })
  if (!isSeveral(row)) return approved(receipt)
  // Thrown, so that the answer is undone: they can still deny.
  if (counted.agreed.every(({ ballot }) => ballot.id !== decision.ballot.id)) throw leftGroup()
  return counted.assignment ? approved(await completedSet(call, row, counted)) : noteYes(call, decision)
}

/**
 * Counts a decision: a yes, which completes the request or waits for others; or a denial, also with the reason `refused`, which
 * ends the request for everybody. A Refusal is returned, so that writes commit.
 */
export const finishApproval = async (
  call: Call,
  decision: VerifiedDecision,
  refused?: string,
): Promise<ApprovalRow | Refusal> => {
  const { input, attestation } = decision
  const approved = input.decision === 'approve' && refused === undefined
  // Without a receipt there is no approval: the request had already ended.
  if (approved && !attestation) return notAnswerable(call, decision)
  const answered = await answerBallot(call, decision, approved ? 'approved' : 'denied')
  if (!answered) return notAnswerable(call, decision)
  // The answers as they are in this transaction.
  const counted = { ...decision, row: answered }
  if (approved) return approve(call, counted, attestation!)
  const denier = await denierOf(call, counted)
  const ended = await end(call, counted, {
    status: 'denied',
    detail: refused === undefined ? detailOf(input, denier) : refused,
    note: input.note ?? null,
    attestation: attestation && JSON.stringify(attestation),
  })
  const kept = input.not_me
    ? await reportRequester(call, { ...counted.row, user_id: counted.ballot.user_id }, actorOf(counted))
    : undefined
  return kept ?? (refused === undefined ? ended : deniedBy(refused))
}

/** Counts a wrong number, and denies after the last attempt. The count is committed in any case. */
export const countWrongNumber = async (
  call: Call,
  decision: VerifiedDecision,
): Promise<ApprovalRow | Refusal> => {
  const tries = await countTry(call, decision)
  if (tries === undefined) return notAnswerable(call, decision)
  const { row } = decision
  const subject = auditSubject(row.request_id)
  if (tries < maxAttempts) {
    await call.audit(row.org_id, subject, ['number_tries'], actorOf(decision))
    return wrongNumber()
  }
  await end(
    call,
    { ...decision, row: await denyAfterTries(call, decision) },
    { status: 'denied', detail: wrongTwice, ruling: null },
  )
  return deniedBy(wrongTwice)
}
