import { type Selectable, sql } from 'kysely'
import { sha256 } from '../../core/ids.ts'
import { conflict } from '../../core/refusal.ts'
import { isGenuineEnd, noteCommitted, rulesInWrite } from '../call/audit.ts'
import type { Call } from '../call/call.ts'
import { coveredText, type Tables } from '../storage/schema.ts'
import { statement } from '../storage/statement.ts'
import { type AuditHead, findTransaction, transactionOf } from '../storage/transaction.ts'
import { knowHead, knownHead, type StoredGrant, type StoredRule } from './known-heads.ts'

// Every statement on `groups` and `rule_heads` is here. A row has a MAC of its own, which cannot show that a row is missing or
// is an older one. So the head of an organization has a MAC over all of its groups, over its rules and live grants, which it
// contains, and over a number that rises with each change. Each audit row of the organization repeats the number, and the head
// names the row of its own change (`rules:12`). So an older head has not the number of the last row, and the last one is whole
// only with its audit row. A write takes the number from the row that its own one follows, so whoever hides rows or deletes them
// from an index breaks the chain. A change of rules, or of who is in a group, ends the grants.

type GroupRow = Selectable<Tables['groups']>
export type Group = Omit<GroupRow, 'members' | 'row_mac'> & { members: number[] }

type Deps = Pick<Call, 'db' | 'keyring'>

const digestOf = (rows: readonly GroupRow[]): string =>
  sha256(JSON.stringify(rows.map((row) => coveredText('groups', row))))

const nameInAudit = (counter: number): string => `rules:${counter}`

/** Of the head: once, and not again with each group. */
const isFirst = sql`(g.id is null or g.id = (select min(id) from groups where org_id = o.id))`

// One statement, so that all of it is from one moment. It leaves out the rules of a head with the MAC `known`.
const read = statement((db, { orgId, known }: { orgId: number; known: string }) =>
  db
    .selectFrom('organizations as o')
    .leftJoin('rule_heads as h', 'h.org_id', 'o.id')
    .leftJoin('groups as g', 'g.org_id', 'o.id')
    .leftJoin('audit as l', (on) =>
      on
        .onRef('l.org_id', '=', 'o.id')
        .on('l.seq', '=', sql<number>`(select max(seq) from audit where org_id = o.id)`),
    )
    .where('o.id', '=', orgId)
    .select(['g.id', 'g.name', 'g.members', 'g.created_at', 'g.deleted_at', 'g.row_mac'])
    .select(['h.counter', 'h.digest', 'h.row_mac as head_mac'])
    .select(sql<string | null>`case when ${isFirst} then h.grants end`.as('grants'))
    .select(sql<string | null>`case when ${isFirst} and h.row_mac <> ${known} then h.rules end`.as('rules'))
    .select(['h.audit_seq', 'h.audit_hash'])
    .select(['l.seq', 'l.at', 'l.hash', 'l.newest_key', 'l.newest_user', 'l.newest_device'])
    .select(['l.rules as changes', 'l.row_mac as last_mac'])
    .select(
      sql<0 | 1>`case when exists (select 1 from audit where org_id = o.id and seq = h.audit_seq
        and hash = h.audit_hash and subject = 'rules:' || h.counter) then 1 else 0 end`.as('is_audited'),
    )
    .orderBy('g.id'),
)

/** In the first row, if there is a head. */
type StoredHead = Pick<Tables['rule_heads'], 'digest' | 'grants' | 'audit_seq' | 'audit_hash'> & {
  head_mac: string
  rules: string | null
}

type Rows = {
  rows: GroupRow[]
  rules: string
  grants: string
  parsed?: StoredRule[]
  counter: number
  isWhole: boolean
}

const compared = ['counter', 'digest', 'grants', 'audit_seq', 'audit_hash'] as const

type LastRow = { seq: number | null; changes?: number | null; last_mac?: string | null }

/** The number of changes that the last row of the audit repeats; undefined if another program wrote it. */
const lastChanges = ({ db, keyring }: Deps, org_id: number, { last_mac, ...last }: LastRow) => {
  const rules = last.changes ?? 0
  const end = { ...last, rules, row_mac: last_mac } as AuditHead
  const isGenuine = last.seq === null || isGenuineEnd(keyring, org_id, end)
  // What a read finds is committed.
  if (isGenuine && last.seq && !findTransaction(db)) noteCommitted(keyring, org_id, end)
  return isGenuine && rules === (rulesInWrite({ db, keyring }, org_id) ?? rules) ? rules : undefined
}

/**
 * The groups of an organization, with those that were deleted, and its rules. `isWhole`: no other program has changed one, or the
 * head.
 */
const readRows = async ({ db, keyring }: Deps, org_id: number, { isAfresh = false } = {}): Promise<Rows> => {
  const before = isAfresh ? undefined : knownHead(keyring, org_id)
  const found = (await read(db, { orgId: org_id, known: before?.row_mac ?? '' })).rows
  const rows = found.flatMap(({ id, name, members, created_at, deleted_at, row_mac }): GroupRow[] =>
    id === null
      ? []
      : [{ id, org_id, name: name!, members: members!, created_at: created_at!, deleted_at, row_mac }],
  )
  const { counter, is_audited, ...rest } = found[0] ?? { counter: null, seq: null }
  const isLast = lastChanges({ db, keyring }, org_id, rest) === (counter ?? 0)
  if (counter === null)
    return { rows, rules: '[]', grants: '[]', counter: 0, isWhole: rows.length === 0 && isLast }
  const { digest, grants, audit_seq, audit_hash, head_mac: row_mac, rules: fresh } = rest as StoredHead
  const isKnown = before?.row_mac === row_mac
  const rules = isKnown ? before!.rules : (fresh ?? '')
  const head = { org_id, counter, digest, rules, grants, audit_seq, audit_hash, row_mac }
  // Its rules are those that were proven, and too long to compare for each decision.
  const isProven = isKnown
    ? compared.every((column) => before![column] === head[column])
    : keyring.holds('rule_heads', head)
  const isWhole = isLast && is_audited === 1 && isProven && digest === digestOf(rows)
  const { parsed } = isWhole ? knowHead(keyring, head) : {}
  return { rows, rules, grants, counter, isWhole, ...(parsed && { parsed }) }
}

/** Whether the groups of an organization are as the service wrote them. */
export const areGroupsWhole = async (deps: Deps, orgId: number): Promise<boolean> =>
  (await readRows(deps, orgId, { isAfresh: true })).isWhole

const parsed = (row: GroupRow): Group => {
  const { row_mac: _, members, ...rest } = row
  return { ...rest, members: JSON.parse(members) as number[] }
}

/** Who can be asked, and who must be. */
export type Book = { groups: Group[]; rules: StoredRule[] }

/** Throws 409 if another program has changed them. */
const readWhole = async (deps: Deps, orgId: number): Promise<Rows> => {
  const found = await readRows(deps, orgId)
  if (found.isWhole) return found
  throw conflict(
    'groups_altered',
    'Another program has changed the groups or the rules of the organization in the store, so nobody can use or change them',
    `Ask the operator to restore a backup; this shows what was changed: svc audit altered --org ${orgId}`,
  )
}

const liveIn = ({ grants }: Rows, now: string): StoredGrant[] =>
  (JSON.parse(grants) as StoredGrant[]).filter(({ ends_at }) => ends_at > now)

/** The grants that have not ended. */
export const readGrants = async (call: Deps & Pick<Call, 'now'>, orgId: number): Promise<StoredGrant[]> =>
  liveIn(await readWhole(call, orgId), call.now)

/** The same, but none if another program has changed them: nobody can use them, and nothing waits for that. */
export const usableGrants = async (call: Deps & Pick<Call, 'now'>, orgId: number): Promise<StoredGrant[]> => {
  const found = await readRows(call, orgId)
  return found.isWhole ? liveIn(found, call.now) : []
}

/** All groups of an organization, with those that were deleted, and all rules. */
export const readBook = async (deps: Deps, orgId: number): Promise<Book> => {
  const { rows, parsed: rules = [] } = await readWhole(deps, orgId)
  return { groups: rows.map(parsed), rules }
}

export const readGroups = async (deps: Deps, orgId: number): Promise<Group[]> =>
  (await readBook(deps, orgId)).groups

/**
 * Has the audit repeat the number of a change, and writes the head. All of it was checked before, so what a trigger changes in
 * between gets no MAC.
 */
const moveHead = async (call: Call, org_id: number, { rows, rules, grants, counter }: Rows) => {
  const { db, keyring } = call
  await call.audit(org_id, nameInAudit(counter + 1), [])
  const { seq, hash } = transactionOf(db).head(org_id)!
  const head = {
    org_id,
    counter: counter + 1,
    digest: digestOf(rows),
    rules,
    grants,
    audit_seq: seq,
    audit_hash: hash,
  }
  const row_mac = keyring.macOf('rule_heads', head)
  await db
    .insertInto('rule_heads')
    .values({ ...head, row_mac })
    .onConflict((of) => of.column('org_id').doUpdateSet({ ...head, row_mac }))
    .execute()
}

const setRow = async ({ db, keyring }: Deps, { members, ...group }: Group): Promise<GroupRow> => {
  const row = { ...group, members: JSON.stringify(members) }
  const row_mac = keyring.macOf('groups', row)
  await db
    .updateTable('groups')
    .set({ members: row.members, deleted_at: row.deleted_at, row_mac })
    .where('org_id', '=', row.org_id)
    .where('id', '=', row.id)
    .execute()
  return { ...row, row_mac }
}

export const insertGroup = async (
  call: Call,
  { org_id, name, members }: Pick<Group, 'org_id' | 'name' | 'members'>,
): Promise<Group> => {
  const before = await readWhole(call, org_id)
  const values = { org_id, name, created_at: call.now, deleted_at: null }
  const { id } = await call.db
    .insertInto('groups')
    .values({ ...values, members: JSON.stringify(members) })
    .returning('id')
    .executeTakeFirstOrThrow()
  const group = { id, ...values, members: [...members] }
  await moveHead(call, org_id, { ...before, rows: [...before.rows, await setRow(call, group)] })
  return group
}

/** Writes the rows of these groups, which `before` has. */
const changeRows = async (call: Call, before: Rows, groups: readonly Group[]): Promise<void> => {
  const rows = [...before.rows]
  for (const group of groups) rows[rows.findIndex(({ id }) => id === group.id)] = await setRow(call, group)
  await moveHead(call, before.rows[0]!.org_id, { ...before, rows, grants: '[]' })
}

export const changeGroup = async (call: Call, group: Group): Promise<void> =>
  changeRows(call, await readWhole(call, group.org_id), [group])

export const writeRules = async (call: Call, orgId: number, rules: readonly StoredRule[]): Promise<void> =>
  moveHead(call, orgId, { ...(await readWhole(call, orgId)), rules: JSON.stringify(rules), grants: '[]' })

/** Replaces the live grants. Fails with 409 if another program has changed them. */
export const writeGrants = async (call: Call, orgId: number, grants: readonly StoredGrant[]): Promise<void> =>
  moveHead(call, orgId, { ...(await readWhole(call, orgId)), grants: JSON.stringify(grants) })

/** Takes somebody who leaves the organization out of its groups. Leaving never waits for an approval. 409 `groups_altered` */
export const leaveGroups = async (call: Call, { org_id, user_id }: { org_id: number; user_id: number }) => {
  const before = await readWhole(call, org_id)
  const own = before.rows
    .map(parsed)
    .flatMap(({ members, ...rest }) =>
      members.includes(user_id) ? [{ ...rest, members: members.filter((id) => id !== user_id) }] : [],
    )
  for (const { id } of own) await call.audit(org_id, `group:${id}`, ['members'])
  if (own.length > 0) await changeRows(call, before, own)
}
