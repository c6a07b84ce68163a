import type { Db } from '../storage/schema.ts'
import { transactionOf } from '../storage/transaction.ts'
import { statement } from '../storage/statement.ts'
import { idGivenAgain } from '../storage/store-changed.ts'

const inServiceChain = statement((db, { subject }: { subject: string }) =>
  db.selectFrom('audit').where('org_id', '=', 0).where('subject', '=', subject).select('seq').limit(1),
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
 * An id is never given again: groups, grants and approvals name people and keys by it. Throws 409 if the audit of the organization
 * knows a higher one, or that of the service names it already; with `orgId` null that of any organization.
 */
export const requireNewId = async (
  db: Db,
  kind: 'key' | 'user' | 'device',
  id: number,
  orgId: number | null,
) => {
  const subject = `${kind}:${id}`
  const newest = orgId === null ? 0 : (transactionOf(db).head(orgId)?.[`newest_${kind}`] ?? 0)
  const { rows } = await inServiceChain(db, { subject })
  if (id > newest && rows.length === 0 && (orgId !== null || !(await inAnyChain(db, subject)))) return
  throw idGivenAgain(kind, id)
}
