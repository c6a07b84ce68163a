import { conflict } from '../../core/refusal.ts'
import type { Db } from '../storage/schema.ts'
import { statement } from '../storage/statement.ts'

type Wanted = { orgId: number; subject: string }

const inOwnChain = statement((db, { orgId, subject }: Wanted) =>
  db
    .selectFrom('audit')
    .where('subject', '=', subject)
    .where(({ eb, or }) => or([eb('org_id', '=', orgId), eb('org_id', '=', 0)]))
    .select('seq')
    .limit(1),
)

/** By the index of each organization. */
const inAnyChain = (db: Db, subject: string) =>
  db
    .selectFrom('organizations as o')
    .innerJoin('audit as a', (on) => on.onRef('a.org_id', '=', 'o.id').on('a.subject', '=', subject))
    .select('a.seq')
    .limit(1)
    .executeTakeFirst()

/**
 * An id is never given again: groups, grants and approvals name people and keys by it. Throws 409 if the audit of the organization,
 * or of the service, names it already; with `orgId` null that of any organization.
 */
export const requireNewId = async (db: Db, kind: 'key' | 'user', id: number, orgId: number | null) => {
  const subject = `${kind}:${id}`
  const own = await inOwnChain(db, { orgId: orgId ?? 0, subject })
  if (own.rows.length === 0 && (orgId !== null || !(await inAnyChain(db, subject)))) return
  throw conflict(
    'store_changed',
    `Another program has changed the store, which would give the id of an earlier ${kind} again: ${id}`,
    'Ask the operator to restore a backup',
  )
}
