import { sql } from 'kysely'
import { addMs, hourMs } from '../../core/iso-time.ts'
import type { Log } from '../../core/log.ts'
import { ballotWithoutTexts, receiptDigest, withoutTexts } from '../approvals/cleared.ts'
import { forgetErased } from '../approvals/erasure.ts'
import { auditByService } from '../call/audit.ts'
import { dropRows } from '../approvals/expiry.ts'
import { isApproved } from '../approvals/record.ts'
import type { Call } from '../call/call.ts'
import { repeatForAll } from '../call/repeat.ts'
import type { Service } from '../call/service.ts'
import { erasePeople } from '../members/erasure.ts'
import { type Db, tables } from '../storage/schema.ts'
import { updateApproval, updateBallots } from '../approvals/rows.ts'

const approvalsToClear = (db: Db, before: string) =>
  db.selectFrom('approvals').where('cleared_at', 'is', null).where('ended_at', '<', before)

/**
 * Clears texts, numbers, locations and receipts of an organization's approvals that ended before `before`, at most
 * `atMost`. The ids (requester, approver, device), times and digests stay. Returns how many it cleared.
 */
export const clearApprovals = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  { org_id, now, before, atMost }: { org_id: number; now: string; before: string; atMost: number },
): Promise<number> => {
  const rows = await approvalsToClear(db, before)
    .where('org_id', '=', org_id)
    .selectAll()
    .orderBy('ended_at')
    .limit(atMost)
    .execute()
  for (const row of rows) {
    const cleared = withoutTexts(row)
    await updateBallots(db, row).set(ballotWithoutTexts).execute()
    await dropRows(db, row)
    await updateApproval(db, row)
      .set({
        ...cleared,
        receipt_digest: row.attestation === null ? null : receiptDigest(row.attestation),
        cleared_at: now,
        // What was not authentic does not become so.
        row_mac: isApproved(row, { keyring }) ? keyring.macOf('approvals', { ...row, ...cleared }) : null,
      })
      .execute()
  }
  if (rows.length > 0)
    await auditByService({ db, keyring }, now, {
      orgId: org_id,
      action: 'clearApprovals',
      subject: `approvals:${rows.length}`,
      changes: ['cleared_at'],
    })
  return rows.length
}

/** Rows in one transaction, so that other writes do not wait long. */
const atMost = 200

type Expiring = 'verifications' | 'idempotency'

/** Deletes the oldest rows that were created before `before`; returns how many. */
const deleteOldest = async (db: Db, table: Expiring, before: string): Promise<number> => {
  const columns = sql.join(tables[table].key.map((column) => sql.ref(column)))
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where (${columns}) in
      (select ${columns} from ${sql.table(table)} where created_at < ${before} order by created_at limit ${atMost})
  `.execute(db)
  return Number(numAffectedRows)
}

/** Removes data older than the periods, a few rows in each transaction so that other writes run in between. */
export const sweepRetention = async (
  { storage, periods, keyring }: Pick<Service, 'storage' | 'periods' | 'keyring'>,
  isStopped: () => boolean = () => false,
): Promise<void> => {
  const before = (keptMs: number): string => addMs(storage.now(), -keptMs)
  for (const table of ['idempotency', 'verifications'] as const)
    for (let done = atMost; done === atMost && !isStopped();)
      done = await storage.write((db) => deleteOldest(db, table, before(periods[`${table}Ms`])), {
        org: null,
        routine: true,
      })
  const oldest = (): string => before(periods.approvalsMs)
  const readDue = () =>
    storage.read((db) => approvalsToClear(db, oldest()).select('org_id').limit(1).executeTakeFirst())
  for (let due = await readDue(); due && !isStopped(); due = await readDue()) {
    const { org_id } = due
    await storage.write(
      (db) => clearApprovals({ db, keyring }, { org_id, now: storage.now(), before: oldest(), atMost }),
      { org: org_id },
    )
  }
}

/** Deletes expired rows, which no longer have any effect. Runs inside a transaction. */
export const deleteExpired = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  now: string,
): Promise<void> => {
  const expired = await db
    .deleteFrom('registrations')
    .where('expires_at', '<=', now)
    .returning('user_id')
    .execute()
  await erasePeople(
    { db, keyring },
    expired.map((row) => row.user_id),
  )
  await forgetErased(db, now)
  for (const table of [
    'otps',
    'email_verifications',
    'refresh_tokens',
    'spent_challenges',
    'oauth_clients',
    'device_codes',
  ] as const)
    await db.deleteFrom(table).where('expires_at', '<=', now).execute()
  await db.deleteFrom('turns').where('until', '<=', now).execute()
  await db
    .deleteFrom('token_families')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('refresh_tokens as t').select('t.id').whereRef('t.family', '=', 'token_families.family'),
        ),
      ),
    )
    .execute()
}

/** Deletes expired rows now and every hour; returns a function that stops it. */
export const watchExpired = ({ storage, keyring }: Service, log: Log) =>
  repeatForAll(
    { storage, log },
    {
      work: 'deletion of expired rows',
      everyMs: hourMs,
      run: () => storage.write((db) => deleteExpired({ db, keyring }, storage.now()), { org: null }),
    },
  )

/** Sweeps now and every ten minutes. The returned function stops it and waits for the current transaction. */
export const watchRetention = (service: Service, log: Log) =>
  repeatForAll(
    { storage: service.storage, log },
    { work: 'retention', everyMs: 10 * 60_000, run: (isStopped) => sweepRetention(service, isStopped) },
  )
