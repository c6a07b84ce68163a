import { inWholeSeconds } from '../../core/iso-time.ts'
import { conflict, notFound, Refusal } from '../../core/refusal.ts'
import { canonicalData } from '../../receipt/subject.ts'
import type { Call } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import type { Db } from '../storage/schema.ts'
import { named, statement } from '../storage/statement.ts'
import { forgetProved, requestNotAuthentic } from './authentic.ts'
import { lapsedYes, requireApprovers } from './ballots.ts'
import { notConsumable } from './consumption.ts'
import { auditSubject } from './record.ts'
import { type ApprovalRow, isUsable, isUsableBy, type RequestKey, updateApproval } from './rows.ts'
import type { RequestSubject } from './write-subject.ts'

// Every statement on `batch_rows` that a decision relies on is here.

/** Rows in one statement. */
const atOnce = 500

export const rowsOf = (db: Db, { request_id, org_id }: RequestKey) =>
  db.selectFrom('batch_rows').where('request_id', '=', request_id).where('org_id', '=', org_id)

/** Stores the rows that a request asks for. */
export const insertBatchRows = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  { request_id, org_id }: RequestKey,
  rows: readonly { subject: RequestSubject; digest: string }[],
): Promise<void> => {
  const all = rows.map(({ subject, digest }, row_index) => {
    const row = { request_id, org_id, row_index, digest, used_at: null }
    const row_mac = keyring.macOf('batch_rows', row)
    return { ...row, data: canonicalData(subject.data), row_mac }
  })
  for (let at = 0; at < all.length; at += atOnce)
    await db
      .insertInto('batch_rows')
      .values(all.slice(at, at + atOnce))
      .execute()
}

/** The rows of a request that were not used, by digest. */
export const unusedRows = async (db: Db, request: RequestKey): Promise<Map<string, number>> => {
  const unused = rowsOf(db, request).where('used_at', 'is', null)
  const rows = await unused.select(['digest', 'row_index']).execute()
  return new Map(rows.map(({ digest, row_index }) => [digest, row_index]))
}

type Use = {
  org_id: number
  request_id: string
  row_index: number
  digest: string
  asked_by: number
  now: string
  /** The MAC of the row as it must be, and as it will be; and that of the request that was proven. */
  unused: string
  used: string
  proven: string
}

/** The row as it must be. Its use does not return what it was, and a statement alone can be made to find another. */
const findUnused = statement(
  (db, values: Pick<Use, 'org_id' | 'request_id' | 'row_index' | 'digest' | 'unused'>) =>
    rowsOf(db, values)
      .where('row_index', '=', values.row_index)
      .where('digest', '=', values.digest)
      .where('row_mac', '=', values.unused)
      .selectAll(),
)

/** From the end, because rows are used from the start. */
const lastOther = (db: Db, { row_index, ...request }: RequestKey & { row_index: number }) =>
  rowsOf(db, request)
    .where('row_index', '<>', row_index)
    .where('used_at', 'is', null)
    .select('row_index')
    .orderBy('row_index', 'desc')
    .limit(1)

const use = statement((db, values: Use) =>
  db
    .updateTable('batch_rows')
    .set({ used_at: values.now, row_mac: values.used })
    .where('request_id', '=', values.request_id)
    .where('row_index', '=', values.row_index)
    .where('org_id', '=', values.org_id)
    .where('digest', '=', values.digest)
    .where('used_at', 'is', null)
    .where('row_mac', '=', values.unused)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('approvals')
          .where('approvals.request_id', '=', values.request_id)
          .where('approvals.org_id', '=', values.org_id)
          .where('asked_by', '=', values.asked_by)
          .where('approvals.row_mac', '=', values.proven)
          .where(isUsable(values.now))
          .select('approvals.id'),
      ),
    )
    .where(({ not, exists }) => not(exists(lapsedYes(db, named(values, ['request_id', 'org_id'])))))
    .returning(['id', lastOther(db, named(values, ['request_id', 'org_id', 'row_index'])).as('other')]),
)

/** Why `use` changed no row. */
const notUsable = async (
  call: Call,
  proven: ApprovalRow,
  { row_index, digest, asked_by }: Pick<Use, 'row_index' | 'digest' | 'asked_by'>,
): Promise<Refusal> => {
  const { db, now, keyring } = call
  const { request_id, org_id } = proven
  // It may have changed.
  forgetProved(keyring, request_id)
  const request = await db
    .selectFrom('approvals')
    .where('request_id', '=', request_id)
    .where('org_id', '=', org_id)
    .where('asked_by', '=', asked_by)
    .selectAll()
    .executeTakeFirst()
  const isOver = request?.lapsed_at !== null || (request.use_by ?? '') <= now
  if (isOver || request.status !== 'approved' || request.used_at !== null)
    return notConsumable(request, proven.subject_digest, now)
  const row = await rowsOf(db, proven).where('row_index', '=', row_index).selectAll().executeTakeFirst()
  if (!row) return notFound(`Row ${row_index} of the approval`)
  if (row.used_at !== null)
    return conflict(
      'already_used',
      `Row ${row_index} was already used at ${inWholeSeconds(row.used_at)}; it works once`,
    )
  if (row.digest !== digest)
    return new Refusal(
      422,
      'other_subject',
      `Row ${row_index} of the approval is another change, or what it replaces has changed since`,
      { hint: 'Run the command again to request an approval of what is left' },
    )
  await requireApprovers(call, proven)
  return requestNotAuthentic('used')
}

/**
 * Uses one row of an approval, in the transaction of its write. One conditional statement decides. With the last row, the
 * approval is used. `proven` is the request as `proveApproval` returned it.
 */
export const useRow = async (
  call: Call,
  proven: ApprovalRow,
  { row_index, digest }: Pick<Use, 'row_index' | 'digest'>,
): Promise<true> => {
  const { db, now, keyring, caller } = call
  const { request_id, org_id } = proven
  const asked_by = namedKeyOf(caller)
  if (!isUsableBy(proven, { askedBy: asked_by, now })) throw notConsumable(proven, proven.subject_digest, now)
  const row = { request_id, org_id, row_index, digest, used_at: null }
  const macs = {
    unused: keyring.macOf('batch_rows', row),
    used: keyring.macOf('batch_rows', { ...row, used_at: now }),
    proven: proven.row_mac ?? '',
  }
  const found = await findUnused(db, { ...row, unused: macs.unused })
  const { rows } = await use(db, { request_id, org_id, row_index, digest, asked_by, now, ...macs })
  if (found.rows.length === 0 || rows.length === 0)
    throw await notUsable(call, proven, { row_index, digest, asked_by })
  if (rows[0]!.other !== null) return true
  await updateApproval(db, proven)
    .set({ used_at: now, row_mac: keyring.macOf('approvals', { ...proven, used_at: now }) })
    .where('row_mac', '=', proven.row_mac)
    .execute()
  await call.audit(org_id, auditSubject(request_id), ['used_at'])
  return true
}
