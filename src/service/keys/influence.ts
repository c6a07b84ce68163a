import { influential } from '../../contract/scopes.ts'
import type { Caller } from '../call.ts'
import type { Db } from '../storage/schema.ts'
import { ancestorsOf, rootOf } from './ancestry.ts'
import { everyScope, isOperator } from './scopes.ts'

/**
 * Whether a key can influence who approves, and so could answer its own question: it can enroll devices, make keys, change
 * members or change rules.
 */
export const mayInfluence = (caller: Pick<Caller, 'orgId' | 'scopes'>): boolean =>
  isOperator(caller) || influential.some((scope) => caller.scopes.has(scope))

/** How the key that enrolled a device is related to the key that asks. */
export type Relation = 'self' | 'operator' | 'creator' | 'other' | 'unknown'

const isOperatorKey = async (db: Db, id: number): Promise<boolean> => {
  const row = await db
    .selectFrom('api_keys')
    .where('id', '=', id)
    .select(['org_id', 'scopes'])
    .executeTakeFirst()
  return row !== undefined && row.org_id === null && row.scopes === everyScope
}

/**
 * `self` also where the enrolling key was created by the asking one, directly or not: its owner holds both. `unknown` where
 * nobody recorded which key enrolled the device. Both are row ids of `api_keys`.
 */
export const relationOf = async (db: Db, asking: number, enrolledBy: number | null): Promise<Relation> => {
  if (enrolledBy === null) return 'unknown'
  const [asked, enrolled] = [await rootOf(db, asking), await rootOf(db, enrolledBy)]
  if (enrolled === undefined) return 'unknown'
  if (asked === enrolled) return 'self'
  if (asked !== undefined && (await ancestorsOf(db, enrolled)).includes(asked)) return 'self'
  if (await isOperatorKey(db, enrolledBy)) return 'operator'
  return asked !== undefined && (await ancestorsOf(db, asked)).includes(enrolled) ? 'creator' : 'other'
}
