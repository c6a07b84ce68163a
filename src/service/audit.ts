import { auditHash, genesisHash } from '../receipt/chain.ts'
import type { Db } from './storage/schema.ts'

export type AuditEntry = {
  /** 0 is the chain of the service itself. */
  orgId: number
  at: string
  actor: string
  action: string
  subject: string
  /** Names of fields, never their values. */
  changes: string[]
  requestId: string
}

/** Appends a row to a chain. Called inside the transaction of what it records. */
export const appendAudit = async (db: Db, entry: AuditEntry): Promise<void> => {
  const head = await db
    .selectFrom('audit')
    .where('org_id', '=', entry.orgId)
    .select(['seq', 'hash'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  const row = {
    org_id: entry.orgId,
    seq: (head?.seq ?? 0) + 1,
    at: entry.at,
    actor: entry.actor,
    action: entry.action,
    subject: entry.subject,
    changes: entry.changes,
    request_id: entry.requestId,
    prev_hash: head?.hash ?? genesisHash,
  }
  await db
    .insertInto('audit')
    .values({ ...row, changes: JSON.stringify(row.changes), hash: auditHash(row) })
    .execute()
}
