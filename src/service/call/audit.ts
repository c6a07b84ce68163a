import { auditHash, genesisHash } from '../../receipt/chain.ts'
import type { RowMacs } from './keyring.ts'
import { type Db, type Tables, tables } from '../storage/schema.ts'
import { named, statement } from '../storage/statement.ts'
import { type AuditHead, findTransaction, transactionOf } from '../storage/transaction.ts'

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

type Macs = Pick<RowMacs, 'macOf' | 'holds'>

/** What a MAC covers of the row that ends an audit, with the MAC. */
type SealedEnd = Pick<AuditHead, 'seq' | 'hash' | 'rules' | 'row_mac'>

/** Ends that were proven, because each write follows the row of the last one, and proving takes longer than a statement. */
const proven = new WeakMap<Macs, Set<string>>()
const mostProven = 1_000

const noteProven = (keyring: Macs, text: string): void => {
  const known = proven.get(keyring) ?? new Set()
  if (known.size >= mostProven) known.clear()
  proven.set(keyring, known.add(text))
}

const textOf = (org_id: number, { seq, hash, rules, row_mac }: SealedEnd): string =>
  `${org_id} ${seq} ${rules} ${hash} ${row_mac}`

/** Whether the service wrote the row that ends an audit. */
export const isGenuineEnd = (keyring: Macs, org_id: number, end: SealedEnd): boolean => {
  const text = textOf(org_id, end)
  if (proven.get(keyring)?.has(text)) return true
  const found = keyring.holds('audit', { org_id, ...end })
  if (found) noteProven(keyring, text)
  return found
}

/**
 * In a write, the changes of the rules and groups of an organization so far; -1, which no head has, if another program wrote the
 * last row of the audit. Undefined in a read.
 */
export const rulesInWrite = (
  { db, keyring }: { db: Db; keyring: Macs },
  org_id: number,
): number | undefined => {
  const transaction = findTransaction(db)
  if (!transaction) return undefined
  const head = transaction.head(org_id)
  // The service itself, whose chain goes on without a MAC after a restore, has no rules.
  if (!head || org_id === 0) return 0
  return isGenuineEnd(keyring, org_id, head) ? head.rules : -1
}

/** The time, or in a write that of the last change: what was over then stays over when the clock is set back. */
export const latestTime = ({ db, now }: { db: Db; now: string }, org_id: number): string => {
  const at = findTransaction(db)?.head(org_id)?.at ?? now
  return at > now ? at : now
}

/** Without the master key, of which only the chain of the service itself has no need. */
type Deps = { db: Db; keyring?: Macs }

/**
 * Appends a row to a chain, inside the transaction that it records. Behind one that the service did not write it gets no MAC, so
 * that it does not make that one genuine.
 */
export const appendAudit = async ({ db, keyring }: Deps, entry: AuditEntry): Promise<void> => {
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
  const follows = keyring && (!head || isGenuineEnd(keyring, org_id, head))
  const row_mac = follows ? keyring.macOf('audit', { ...row, hash }) : null
  const added = addRow(db, { ...row, changes: JSON.stringify(row.changes), hash, row_mac })
  const next = { seq: row.seq, hash, at: row.at, rules: row.rules, row_mac }
  if (follows) noteProven(keyring, textOf(org_id, next))
  await transaction.append(org_id, next, added)
}

/** Appends a row for a change that the service makes by itself. */
export const auditByService = (
  deps: Deps,
  at: string,
  entry: Pick<AuditEntry, 'orgId' | 'action' | 'subject'> & { changes?: string[] },
): Promise<void> => appendAudit(deps, { changes: [], ...entry, at, actor: 'service', requestId: '-' })
