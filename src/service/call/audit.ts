import { sql } from 'kysely'
import { auditHash, genesisHash } from '../../receipt/chain.ts'
import type { Db } from '../storage/schema.ts'

export type AuditEntry = {
  /** 0 is the chain of the service itself. */
  orgId: number
  at: string
  actor: string
  action: string
  subject: string
  /** Names of fields, never their values; and `approval:apr_…`, the request that a person approved for this. */
  changes: string[]
  requestId: string
}

// Its two statements are texts: they go with every write, and to build them would take longer than to run them.

/** Appends a row to a chain. Called inside the transaction of what it records. */
export const appendAudit = async (db: Db, entry: AuditEntry): Promise<void> => {
  const { rows } = await sql<{ seq: number; hash: string }>`
    select seq, hash from audit where org_id = ${entry.orgId} order by seq desc limit 1`.execute(db)
  const head = rows[0]
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
  await sql`
    insert into audit (org_id, seq, at, actor, action, subject, changes, request_id, prev_hash, hash)
    values (${row.org_id}, ${row.seq}, ${row.at}, ${row.actor}, ${row.action}, ${row.subject},
      ${JSON.stringify(row.changes)}, ${row.request_id}, ${row.prev_hash}, ${auditHash(row)})`.execute(db)
}
