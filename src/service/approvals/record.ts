import type { ApprovalRecord } from '../../contract/approval.ts'
import { progressText } from '../../contract/line-progress.ts'
import { notFound } from '../../core/refusal.ts'
import { type ApprovalContext, contextBytes, type GrantTerms } from '../../receipt/context.ts'
import { fieldsOf, summaryOf } from '../../receipt/subject-text.ts'
import type { Subject } from '../../receipt/subject.ts'
import type { Call } from '../call/call.ts'
import { type Caller, namedKeyOf } from '../call/caller.ts'
import { withinOrganization } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'
import type { ApprovalRow, BallotRow } from './rows.ts'
import { type BreakGlass, readBreakGlass, wasTold } from './broken-glass.ts'
import { isGenuine, readableOf } from './genuine.ts'
import { ownerOf } from './key-owner.ts'
import { readLines, readRules, toLineRecords } from './lines.ts'

/**
 * The requests that a caller can see: those of one organization, or of all; with `askedBy`, those of one key, and each that broke
 * the glass if this person was told.
 */
export type ApprovalAccess = { orgId: number | null; askedBy?: number; person?: number | undefined }

/** Without the scope `read`, a key sees only its own requests, and a signed-in person what they were told. */
export const approvalAccess = (caller: Caller): ApprovalAccess => {
  const { scopes, orgId, signedInWith, ownerId } = caller
  if (scopes.has('read')) return { orgId }
  return { orgId, askedBy: namedKeyOf(caller), ...(signedInWith !== undefined && { person: ownerId }) }
}

export const selectApprovals = (db: Db, { orgId, askedBy }: ApprovalAccess) =>
  db
    .selectFrom('approvals as a')
    .where('a.erased_at', 'is', null)
    .where(withinOrganization(orgId, 'a.org_id'))
    .$if(askedBy !== undefined, (query) => query.where('a.asked_by', '=', askedBy!))
    .selectAll('a')

/** Fails with the same 404 for a request that is absent and one that is out of reach. */
export const findApproval = async (
  db: Db,
  request_id: string,
  { orgId, askedBy, person }: ApprovalAccess,
): Promise<ApprovalRow> => {
  const row = await selectApprovals(db, { orgId }).where('a.request_id', '=', request_id).executeTakeFirst()
  if (row && (askedBy === undefined || row.asked_by === askedBy || wasTold(row, person))) return row
  throw notFound('Approval request')
}

/** Whether the service recorded this approval. Only a request that it approved has a `use_by` under its MAC. */
export const isApproved = (row: ApprovalRow, { keyring }: Pick<Call, 'keyring'>): boolean =>
  row.status === 'approved' && row.use_by !== null && isGenuine(row, { keyring })

export const alteredInStore =
  'another program changed this request in the store, and the service does not use it'

/** The row, or without its approval if the service did not record that approval. */
export const trusted = (stored: ApprovalRow, with_: Pick<Call, 'keyring'>): ApprovalRow => {
  const row = readableOf(stored)
  // A yes that nobody gave is shown to nobody; whoever decides is refused.
  if (row === stored && row.status === 'pending' && !isGenuine(row, with_)) return { ...row, answers: null }
  return row === stored && (row.status !== 'approved' || isApproved(row, with_))
    ? row
    : { ...row, status: 'expired', detail: alteredInStore, attestation: null, use_by: null, used_at: null }
}

/** The field `break_glass` of a request that broke the glass; no field otherwise. */
const brokenGlass = <T>(row: ApprovalRow, shown: (broken: BreakGlass) => T): { break_glass?: T } => {
  const broken = readBreakGlass(row)
  return broken ? { break_glass: shown(broken) } : {}
}

/** A request as `caller` sees it. Only the requester sees the number. */
export const toApprovalRecord = (
  stored: ApprovalRow,
  call: Pick<Call, 'caller' | 'keyring'>,
): ApprovalRecord => toRecord(trusted(stored, call), call.caller)

const toRecord = (row: ApprovalRow, viewer: Caller): ApprovalRecord => ({
  request_id: row.request_id,
  org_id: row.org_id,
  status: row.status,
  action: row.action,
  reason: row.reason,
  requester: row.requester,
  verified_as: row.verified_as,
  ...ownerOf(row, 'key_owner'),
  approver_mobile: row.approver_mobile,
  lines: toLineRecords(row),
  rules: readRules(row).map(({ name }) => name),
  ...brokenGlass(row, ({ reason, skipped, told, review }) => ({
    reason,
    skipped: skipped.map(String),
    told: told.map(String),
    ...(review && { review: { ...review, by: String(review.by) } }),
  })),
  factors: JSON.parse(row.factors) as ApprovalRecord['factors'],
  number: row.asked_by === namedKeyOf(viewer) ? row.number : null,
  detail: row.status === 'pending' ? (progressText(toLineRecords(row)) ?? null) : row.detail,
  ...(row.note !== null && { note: row.note }),
  requested_at: row.requested_at,
  expires_at: row.expires_at,
  decided_at: row.decided_at,
  ruling: JSON.parse(row.ruling ?? 'null') as ApprovalRecord['ruling'],
  attestation: JSON.parse(row.attestation ?? 'null') as ApprovalRecord['attestation'],
  subject: toSubjectRecord(row),
  use_by: row.use_by,
  used_at: row.used_at,
  ...(row.granted_until !== null && { granted_until: row.granted_until }),
  ...(row.granted_by !== null && { granted_by: row.granted_by, grant_use: row.grant_use! }),
  ...(row.cleared_at !== null && {
    cleared_at: row.cleared_at,
    ...(row.receipt_digest !== null && { receipt_digest: row.receipt_digest }),
    subject_digest: row.subject_digest,
  }),
})

/** The lines as everybody signs them. */
export const signedLines = (row: Pick<ApprovalRow, 'lines'>): ApprovalContext['lines'] =>
  readLines(row).map(({ people, need, group, rules, separated }) => ({
    people: people.map(({ user_id }) => String(user_id)),
    need,
    group: group && { id: String(group.id), name: group.name },
    rules,
    separated,
  }))

/** The requesting key as receipts name it. */
export const signedKey = (
  row: Pick<ApprovalRow, 'key_id' | 'key_name' | 'key_scopes' | 'key_owner'>,
): ApprovalContext['key'] => ({
  id: String(row.key_id),
  name: row.key_name,
  scopes: row.key_scopes.split(',').filter((scope) => scope !== ''),
  ...ownerOf(row, 'owner'),
})

/** What a person signs for a decision: the whole question, with everybody who is asked. */
export const contextFor = (
  row: ApprovalRow,
  { user_id, name, mobile, twin, nonce }: BallotRow,
  decision: ApprovalContext['decision'],
  { note, grant }: { note?: string | undefined; grant?: GrantTerms | undefined } = {},
): ApprovalContext => ({
  type: 'approval',
  format: 1,
  organization: { id: String(row.org_id), slug: row.org_slug },
  key: signedKey(row),
  subject: { type: row.subject_type, digest: row.subject_digest },
  request_id: row.request_id,
  action: row.action,
  reason: row.reason,
  requester: row.requester,
  approver: { user_id: String(user_id), name, mobile, twin: twin === 1 },
  lines: signedLines(row),
  rules: readRules(row),
  factors: JSON.parse(row.factors) as string[],
  decision,
  nonce,
  requested_at: row.requested_at,
  request_expires_at: row.expires_at,
  ...(note !== undefined && { note }),
  ...(grant && { grant }),
  ...brokenGlass(row, ({ reason, skipped }) => ({ reason, skipped: skipped.map(String) })),
})

/** The exact bytes of both contexts, base64url. */
export const encodedContexts = (
  row: ApprovalRow,
  ballot: BallotRow,
): Record<ApprovalContext['decision'], string> => {
  const encoded = (decision: ApprovalContext['decision']): string =>
    Buffer.from(contextBytes(contextFor(row, ballot, decision))).toString('base64url')
  return { approve: encoded('approve'), deny: encoded('deny') }
}

/** The subject of an audit row about a request. */
export const auditSubject = (request_id: string): string => `approval:${request_id}`

/** The subject of a row; undefined once it was cleared. */
export const storedSubject = ({
  subject_type,
  subject_data,
}: Pick<ApprovalRow, 'subject_type' | 'subject_data'>): Subject | undefined =>
  subject_data === null
    ? undefined
    : ({ type: subject_type, data: JSON.parse(subject_data) as object } as Subject)

/** The subject with the text that the approver reads. */
export const toSubjectRecord = (row: ApprovalRow): ApprovalRecord['subject'] => {
  const subject = storedSubject(row)
  return subject === undefined
    ? null
    : { ...subject, digest: row.subject_digest, summary: summaryOf(subject), fields: fieldsOf(subject) }
}
