import type { Action } from './actions.ts'
import { auditHash, genesisHash } from '../../receipt/chain.ts'
import { createRecent } from '../../core/recent.ts'
import type { RowMacs } from './keyring.ts'
import { type Db, type Tables, tables } from '../storage/schema.ts'
import { named, statement } from '../storage/statement.ts'
import { storeChanged } from '../storage/store-changed.ts'
import { type AuditHead, findTransaction, headColumns, transactionOf } from '../storage/transaction.ts'

export type AuditEntry = {
  /** 0 is the chain of the service itself. */
  orgId: number
  at: string
  actor: string
  action: Action
  subject: string
  /** Names of fields, never their values; and `approval:apr_…`, the request that a person approved for this. */
  changes: string[]
  requestId: string
}

const columns = Object.keys(tables.audit.columns) as (keyof Tables['audit'])[]

const addRow = statement((db, row: Tables['audit']) => db.insertInto('audit').values(named(row, columns)))

type Macs = Pick<RowMacs, 'macOf' | 'holds'>

/** Ends that were proven, because each write follows the row of the last one, and proving takes longer than a statement. */
const proven = createRecent<string, true>(1_000)

const textOf = (org_id: number, end: AuditHead): string =>
  [org_id, ...headColumns.map((name) => end[name])].join(' ')

/** Whether the service wrote the row that ends an audit. */
export const isGenuineEnd = (keyring: Macs, org_id: number, end: AuditHead): boolean => {
  const text = textOf(org_id, end)
  if (proven.get(keyring, text)) return true
  const found = keyring.holds('audit', { org_id, ...end })
  if (found) proven.set(keyring, text, true)
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

type Committed = Pick<AuditHead, 'seq' | 'hash'>

/** The last rows of audits that this process has committed. */
const committed = createRecent<number, Committed>(10_000)

/** After the commit of a row. */
export const noteCommitted = (keyring: Macs, org_id: number, { seq, hash }: Committed): void => {
  if ((committed.get(keyring, org_id)?.seq ?? 0) <= seq) committed.set(keyring, org_id, { seq, hash })
}

/** Whoever hides the newest rows of a store, with the rules and groups of that time, would put them back after one call. */
const requireCommitted = (keyring: Macs, org_id: number, head: Committed | undefined): void => {
  const known = committed.get(keyring, org_id)
  if (!known) return
  if (head && (head.seq > known.seq || (head.seq === known.seq && head.hash === known.hash))) return
  throw storeChanged(`the audit of organization ${org_id} had ${known.seq} rows`)
}

/** The highest ids with what a row is about. */
const newestWith = (head: AuditHead | undefined, subject: string) => {
  const { newest_key = 0, newest_user = 0, newest_device = 0 } = head ?? {}
  const newest = { newest_key, newest_user, newest_device }
  const [, kind, id] = /^(key|user|device):(\d+)$/.exec(subject) ?? []
  const name = `newest_${kind}` as keyof typeof newest
  return kind === undefined ? newest : { ...newest, [name]: Math.max(newest[name], Number(id)) }
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
 * that it does not make that one genuine. Throws 409 if rows are gone that this process has committed.
 */
export const appendAudit = async ({ db, keyring }: Deps, entry: AuditEntry): Promise<Committed> => {
  const { orgId: org_id, requestId: request_id, ...rest } = entry
  const transaction = transactionOf(db)
  const head = transaction.head(org_id)
  if (keyring) requireCommitted(keyring, org_id, head)
  const row = {
    org_id,
    seq: (head?.seq ?? 0) + 1,
    ...rest,
    // Clocks may be set back, but a chain is in the order of its times.
    at: head && head.at > rest.at ? head.at : rest.at,
    request_id,
    rules: (head?.rules ?? 0) + (rest.subject.startsWith('rules:') ? 1 : 0),
    ...newestWith(head, rest.subject),
    prev_hash: head?.hash ?? genesisHash,
  }
  const hash = auditHash(row)
  const follows = keyring && (!head || isGenuineEnd(keyring, org_id, head))
  const row_mac = follows ? keyring.macOf('audit', { ...row, hash }) : null
  const whole = { ...row, hash, row_mac }
  const added = addRow(db, { ...whole, changes: JSON.stringify(row.changes) })
  const next = named(whole, headColumns)
  if (follows) proven.set(keyring, textOf(org_id, next), true)
  await transaction.append(org_id, next, added)
  return next
}

/** Appends a row for a change that the service makes by itself. */
export const auditByService = (
  deps: Deps,
  at: string,
  entry: Pick<AuditEntry, 'orgId' | 'action' | 'subject'> & { changes?: string[] },
): Promise<Committed> => appendAudit(deps, { changes: [], ...entry, at, actor: 'service', requestId: '-' })
