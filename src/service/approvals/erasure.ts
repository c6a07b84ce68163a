import { addMs, dayMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { type Member, ofMember } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'
import { receiptDigest } from './cleared.ts'
import { isSeveral } from './completion.ts'
import { readableOf } from './genuine.ts'
import { readLines, wakeOf } from './lines.ts'
import { type ApprovalRow, updateApproval, updateBallots } from './rows.ts'
import { isApproved } from './record.ts'

/** No limit looks further back. */
const keptMs = dayMs

const noText = {
  mobile: '',
  name: '',
  twin: 0,
  nonce: '',
  attestation: null,
  first_asked_by: null,
  row_mac: null,
} as const

/** Erases a request to a single person. Its times stay for a day, so that the limits still apply to a person created again. */
const eraseRequest = async ({ db, now, wake }: Call, member: Member, row: ApprovalRow): Promise<void> => {
  await db.deleteFrom('approvals').where('id', '=', row.id).where('org_id', '=', row.org_id).execute()
  if (row.requested_at <= addMs(now, -keptMs)) return
  const { id, request_id, org_id, key_id, asked_by, requested_at, expires_at, decided_at } = row
  const isPending = row.status === 'pending'
  const texts = { requester: '', verified_as: '', action: '', approver_mobile: '', factors: '[]' }
  const subject = { subject_type: '', subject_digest: '', key_name: '', key_scopes: '', org_slug: '' }
  const lists = { lines: '[]', rules: '[]', excluded: '[]' }
  await db
    .insertInto('approvals')
    .values({
      id,
      request_id,
      org_id,
      key_id,
      asked_by,
      requested_at,
      expires_at,
      decided_at,
      status: isPending ? 'expired' : row.status,
      ended_at: isPending ? now : row.ended_at,
      ...texts,
      ...lists,
      ...subject,
      key_influences: 0,
      by_rule: 0,
      use_within_s: 0,
      asked_via: 'api',
      erased_at: now,
    })
    .execute()
  await db
    .insertInto('ballots')
    .values({ request_id, ...member, ...noText, requested_at })
    .execute()
  if (isPending) wake(wakeOf(row))
}

/** Erases what a request to several people says of one of them. Its receipts name everybody, so they are erased too. */
const eraseOne = async ({ db, now, keyring }: Call, { user_id }: Member, row: ApprovalRow) => {
  const lines = readLines(row)
  for (const { people } of lines)
    for (const one of people) if (one.user_id === user_id) Object.assign(one, { name: '', mobile: '' })
  const next = { ...row, lines: JSON.stringify(lines), approver_mobile: '' }
  // What another program changed does not become genuine.
  const isSigned =
    keyring.holds('approvals', row) && (row.status === 'pending' || isApproved(row, { keyring }))
  await updateApproval(db, row)
    .set({
      lines: next.lines,
      approver_mobile: '',
      ...(row.attestation !== null && {
        attestation: null,
        receipt_digest: receiptDigest(row.attestation),
        cleared_at: row.cleared_at ?? now,
      }),
      row_mac: isSigned ? keyring.macOf('approvals', next) : null,
    })
    .execute()
  await updateBallots(db, row)
    .set({ ...noText, decision_digest: null })
    .where('user_id', '=', user_id)
    .execute()
}

/** Erases the requests to a member who is deleted. */
export const eraseApprovals = async (call: Call, member: Member): Promise<void> => {
  const rows = await call.db
    .selectFrom('approvals as a')
    .innerJoin('ballots as b', 'b.request_id', 'a.request_id')
    .where(ofMember(member, 'b'))
    .where('a.erased_at', 'is', null)
    .selectAll('a')
    .orderBy('a.id')
    .execute()
  for (const row of rows.map(readableOf))
    // An emergency is counted, and waits for its review, without its signer, too.
    await (isSeveral(row) || row.break_glass !== null
      ? eraseOne(call, member, row)
      : eraseRequest(call, member, row))
}

/** Deletes the times that no limit needs any more. */
export const forgetErased = async (db: Db, now: string): Promise<void> => {
  await db.deleteFrom('approvals').where('erased_at', '<=', addMs(now, -keptMs)).execute()
}
