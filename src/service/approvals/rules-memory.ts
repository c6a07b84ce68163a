import type { Policy } from '../../rules/decide.ts'
import type { Level } from '../../rules/level.ts'
import type { Storage } from '../storage/storage.ts'
import type { Db } from '../storage/schema.ts'
import { readOrganizationRules, readUserLevel, type OrganizationRules } from './rules-of.ts'

/** All that is enforced for a user, as it is committed now. */
export type RulesMemory = (orgId: number, userId: number) => Promise<Policy>

/** Writes that change no rule. One that is not named here makes the rules be read anew, which is slower and never wrong. */
const harmless = [
  'createApproval',
  'decideApproval',
  'cancelApproval',
  'expireApproval',
  'createEnrollment',
  'registerDevice',
  'revokeDevice',
  'openSession',
  'closeSession',
  'subscribePush',
  'generateAuthToken',
  'verifyUser',
  'submitAuthResults',
  'validateAuth',
  'saveFaceauthSuccess',
]

const organizationsAtMost = 100
const usersAtMost = 1000

type Kept = { seq: number; organization: OrganizationRules; users: Map<number, Level> }

const headOf = async (db: Db, orgId: number): Promise<number> => {
  const head = await db
    .selectFrom('audit')
    .where('org_id', '=', orgId)
    .select('seq')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return head?.seq ?? 0
}

const changedAfter = async (db: Db, orgId: number, seq: number): Promise<boolean> => {
  const change = await db
    .selectFrom('audit')
    .where('org_id', '=', orgId)
    .where('seq', '>', seq)
    .where('action', 'not in', harmless)
    .select('seq')
    .limit(1)
    .executeTakeFirst()
  return change !== undefined
}

/**
 * Keeps compiled rules for as long as the audit of their organization tells of no other write: each leaves a row in the
 * same transaction, on whichever node.
 */
export const createRulesMemory = ({ read }: Pick<Storage, 'read'>): RulesMemory => {
  const kept = new Map<number, Kept>()

  const organizationOf = async (db: Db, orgId: number): Promise<Kept> => {
    // Before the rows: what changes between the two is then read again, and not missed.
    const seq = await headOf(db, orgId)
    const known = kept.get(orgId)
    if (known && !(await changedAfter(db, orgId, known.seq))) return Object.assign(known, { seq })
    const fresh = { seq, organization: await readOrganizationRules(db, orgId), users: new Map() }
    if (kept.size >= organizationsAtMost) kept.clear()
    kept.set(orgId, fresh)
    return fresh
  }

  return (orgId, userId) =>
    read(async (db) => {
      const { organization, users } = await organizationOf(db, orgId)
      const user = users.get(userId) ?? (await readUserLevel(db, orgId, userId))
      if (users.size >= usersAtMost) users.clear()
      users.set(userId, user)
      return { ...organization, user }
    })
}
