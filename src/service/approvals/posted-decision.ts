import canonicalize from 'canonicalize'
import { sha256, sameSecret } from '../../core/ids.ts'
import { conflict, forbidden, Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { consumeOrRefuse } from '../limits/rate-limit.ts'
import { requestExpired } from './expiry.ts'
import type { ApprovalRow, BallotRow } from './rows.ts'
import { auditSubject } from './record.ts'

// What the sender of a decision is answered.

/** Identifies a decision exactly as it was posted, with its signature. */
export const decisionDigest = (input: object): string => sha256(canonicalize(input)!)

/** The end of a request whose number was typed wrong too often. */
export const wrongTwice = 'denied by the service: a wrong number was typed twice'

/** Why an approval was denied instead. `detail` is that of the request. */
export const deniedBy = (detail: string): Refusal =>
  forbidden('denied', `Denied: ${detail.replace(/^denied by the service: /, '')}`)

export const wrongNumber = (): Refusal =>
  new Refusal(422, 'wrong_number', 'This is not the number that the requester shows', {
    issues: [{ field: 'number', message: 'is not the number that the requester shows' }],
    hint: 'One attempt is left; another wrong number denies the request',
  })

/** Why a request that is not pending cannot be ended. */
export const alreadyEnded = (row: Pick<ApprovalRow, 'status' | 'detail'>): Refusal =>
  row.status === 'expired'
    ? requestExpired(row.detail)
    : conflict(`already_${row.status}`, `The request is already ${row.status}; a decision cannot be changed`)

/** Why a ballot cannot be answered again. */
export const alreadyAnswered = ({ status }: Pick<BallotRow, 'status'>): Refusal =>
  conflict(`already_${status}`, `This person already ${status} the request; a decision cannot be changed`)

/** Whether this is the decision of the ballot that was counted last. */
export const isRepeated = ({ decision_digest }: BallotRow, digest: string): boolean =>
  decision_digest !== null && sameSecret(decision_digest, digest)

/** Each adds to the audit log. */
const repeats = { kind: 'decision-repeat', atMost: 10, windowMs: 10 * 60_000 }

/**
 * Answers a decision that was counted already as it was answered then: its answer was lost, and a browser or a proxy sent it
 * again. Nothing is counted again.
 */
export const repeatedOutcome = async (
  call: Call,
  { row, ballot }: { row: ApprovalRow; ballot: BallotRow },
  decision: 'approve' | 'deny',
): Promise<ApprovalRow | Refusal> => {
  if (ballot.status === 'pending') return row.status === 'pending' ? wrongNumber() : alreadyEnded(row)
  if (decision === 'approve' && ballot.status === 'denied') return deniedBy(row.detail ?? '')
  await consumeOrRefuse(
    call,
    repeats,
    { org_id: row.org_id, subject: auditSubject(row.request_id) },
    { code: 'rate_limited', what: `This decision was repeated ${repeats.atMost} times` },
  )
  const actor = `user:${ballot.user_id} (device ${ballot.device_id})`
  await call.audit(row.org_id, auditSubject(row.request_id), ['repeated'], actor)
  return row
}
