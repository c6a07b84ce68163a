import { conflict, forbidden, invalid, notFound, type Refusal } from '../../core/refusal.ts'
import { summaryOf } from '../../receipt/subject-text.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { requireTerminal } from '../call/caller.ts'
import type { RowInput } from '../call/row-ids.ts'
import { demandConsent } from '../keys/keys.ts'
import { brokenBy, readBreakGlass, wasTold } from './broken-glass.ts'
import { tellOfReview } from './emergency-notices.ts'
import { wakeOf, whoAnswered } from './lines.ts'
import { peopleText } from './people-text.ts'
import { auditSubject, findApproval, isApproved, storedSubject, toApprovalRecord } from './record.ts'
import { type ApprovalRow, updateApproval } from './rows.ts'

// After an emergency, one of the people whom nobody asked says whether it was one.

const notApproved = ({ request_id, status }: ApprovalRow): Refusal =>
  conflict(
    'nothing_to_review',
    `Only an emergency that was approved is reviewed: ${request_id} is ${status}`,
    `svc approve status ${request_id}`,
  )

/** What a reviewer reads of the request, besides its id. */
export const reviewedText = async (call: Call, request_id: string, org_id: number) => {
  const row = await findApproval(call.db, request_id, { orgId: org_id })
  if (!isApproved(row, call)) throw notApproved(row)
  const subject = storedSubject(row)
  const [broken_by] = await peopleText(call, org_id, [brokenBy(row)])
  return {
    name: subject ? summaryOf(subject) : row.action,
    ...(subject?.type === 'command' && {
      working_directory: subject.data.cwd,
      program: subject.data.executable.path,
    }),
    request_digest: row.subject_digest,
    broken_by,
    reason_of_the_break_glass: readBreakGlass(row)?.reason,
    approved_by: (await peopleText(call, org_id, whoAnswered(row))).join(', '),
    requested_at: row.requested_at,
  }
}

type Reviewer = { org_id: number; user_id: number }
type Said = Pick<RowInput<'reviewApproval'>, 'ok' | 'dispute' | 'note'>

/** Why this person cannot review this emergency; undefined if they can. */
export const whyNoReview = (
  row: ApprovalRow,
  person: number,
  call: Pick<Call, 'keyring'>,
): Refusal | undefined => {
  const { request_id } = row
  const broken = readBreakGlass(row)
  const hasAnswered = whoAnswered(row).includes(person)
  // Whoever is skipped was told.
  if (!broken || !(hasAnswered || wasTold(row, person))) return notFound('Emergency that you can review')
  if (hasAnswered || !broken.skipped.includes(person))
    return forbidden(
      'not_your_review',
      hasAnswered
        ? `You answered ${request_id}, so somebody else reviews it`
        : `The rules do not name you for ${request_id}, so somebody whom they name reviews it`,
      `svc approve status ${request_id} lists whom it skipped`,
    )
  if (!isApproved(row, call)) return notApproved(row)
  const { review } = broken
  return (
    review &&
    conflict(
      'already_reviewed',
      `User ${review.by} reviewed ${request_id} at ${review.at}`,
      `svc approve status ${request_id}`,
    )
  )
}

/** Stores what a person said of an emergency, and tells the others. */
export const keepReview = async (
  call: Call,
  row: ApprovalRow,
  { ok, dispute, note }: Said,
  { org_id, user_id: by }: Reviewer,
): Promise<ApprovalRow> => {
  const { request_id } = row
  if ((ok === true) === (dispute === true))
    throw invalid('ok', 'or dispute is required, and not both', 'Type --ok, or --dispute --note WHY')
  if (dispute && note === undefined)
    throw invalid('note', 'is required with dispute', 'Say why: --dispute --note WHY')
  const refusal = whyNoReview(row, by, call)
  if (refusal) throw refusal
  const verdict = ok ? ('ok' as const) : ('disputed' as const)
  const review = { by, verdict, at: call.now, ...(note !== undefined && { note }) }
  const break_glass = JSON.stringify({ ...readBreakGlass(row), review })
  const reviewed = await updateApproval(call.db, { request_id, org_id })
    .set({ break_glass, row_mac: call.keyring.macOf('approvals', { ...row, break_glass }) })
    // The row that was read.
    .where('row_mac', '=', row.row_mac)
    .returningAll()
    .executeTakeFirstOrThrow(() =>
      conflict('already_reviewed', 'The request changed while it was reviewed', 'Run the command again'),
    )
  await tellOfReview(call, row, { by, verdict })
  await call.audit(org_id, auditSubject(request_id), ['review', verdict])
  call.wake(wakeOf(row))
  return reviewed
}

/**
 * Records the review that a skipped person signs on their device. Not of whoever approved it: 403 for others who were told,
 * 404 for everybody else, 409 for a request that was not approved or is reviewed.
 */
export const reviewApproval: HandlerOf<'reviewApproval'> = async ({ request_id, ...said }, call) => {
  const row = await findApproval(call.db, request_id, { orgId: call.caller.orgId })
  const by = requireTerminal(call.caller, 'review an emergency')
  const reviewed = await keepReview(call, row, said, by)
  demandConsent(call, by.org_id)
  return toApprovalRecord(reviewed, call)
}
