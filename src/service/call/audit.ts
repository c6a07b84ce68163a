import { auditHash, genesisHash } from '../../receipt/chain.ts'
import { type Db, type Tables, tables } from '../storage/schema.ts'
import { named, statement } from '../storage/statement.ts'
import { transactionOf } from '../storage/transaction.ts'

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

const columns = Object.keys(tables.audit.columns) as (keyof Tables['audit'])[]

const addRow = statement((db, row: Tables['audit']) => db.insertInto('audit').values(named(row, columns)))

/** Appends a row to a chain, inside the transaction that it records. */
export const appendAudit = async (db: Db, entry: AuditEntry): Promise<void> => {
  const { orgId: org_id, requestId: request_id, ...rest } = entry
  const transaction = transactionOf(db)
  const head = transaction.head(org_id)
  const row = {
    org_id,
    seq: (head?.seq ?? 0) + 1,
    ...rest,
    // Clocks may be set back, but a chain is in the order of its times.
    at: head && head.at > rest.at ? head.at : rest.at,
    request_id,
    rules: (head?.rules ?? 0) + (rest.subject.startsWith('rules:') ? 1 : 0),
    prev_hash: head?.hash ?? genesisHash,
  }
  const hash = auditHash(row)
  const added = addRow(db, { ...row, changes: JSON.stringify(row.changes), hash })
  await transaction.append(org_id, { seq: row.seq, hash, at: row.at, rules: row.rules }, added)
}

/** Appends a row for a change that the service makes by itself. */
export const auditByService = (
  db: Db,
  at: string,
  entry: Pick<AuditEntry, 'orgId' | 'action' | 'subject'> & { changes?: string[] },
): Promise<void> => appendAudit(db, { changes: [], ...entry, at, actor: 'service', requestId: '-' })
