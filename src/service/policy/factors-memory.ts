import { compileLevel, type Level } from '../../factors/level.ts'
import type { FactorsMemory } from '../call/service.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import { type OrganizationFactors, readOrganizationFactors, readUserLevel } from './factor-settings.ts'
import { routineActions } from '../call/routine-actions.ts'

/** The most rules in memory, of all organizations. One organization stays, even if it alone has more. */
const rulesAtMost = 300_000

type CachedFactors = {
  seq: number
  organization: OrganizationFactors
  users: Map<number, Level>
  /** The number of rules of the organization and of the cached users. */
  rules: number
}

const noRules = compileLevel({ fences: [], slots: [] })

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
    .where('action', 'not in', routineActions)
    .select('seq')
    .limit(1)
    .executeTakeFirst()
  return change !== undefined
}

/**
 * Caches compiled rules until the audit of their organization shows a relevant write: each write adds a row in the same
 * transaction, on every node. As long as nothing is committed, not even the audit is read.
 */
export const createFactorsMemory = ({
  read,
  revision,
}: Pick<Storage, 'read' | 'revision'>): FactorsMemory => {
  /** In the order of use: the organization used last is last. */
  const cached = new Map<number, CachedFactors>()
  /** Reads at the current revision: concurrent callers share one. */
  const current = new Map<number, Promise<CachedFactors>>()
  let currentRevision = -1
  let rules = 0

  const forget = (orgId: number): void => {
    rules -= cached.get(orgId)?.rules ?? 0
    cached.delete(orgId)
  }

  const grow = (orgId: number, of: CachedFactors, by: number): void => {
    of.rules += by
    if (cached.get(orgId) === of) rules += by
  }

  const makeRoom = (orgId: number): void => {
    for (const other of cached.keys()) {
      if (rules <= rulesAtMost) return
      if (other === orgId) continue
      forget(other)
      current.delete(other)
    }
  }

  const refresh = (orgId: number): Promise<CachedFactors> =>
    read(async (db) => {
      // Read before the rows, so that a change between the two is read again and not missed.
      const seq = await headOf(db, orgId)
      const known = cached.get(orgId)
      const unchanged = known && !(await changedAfter(db, orgId, known.seq)) ? known : undefined
      const organization = unchanged?.organization ?? (await readOrganizationFactors(db, orgId))
      forget(orgId)
      const { size } = organization.organization
      const fresh = unchanged ?? { seq, organization, users: new Map<number, Level>(), rules: size }
      cached.set(orgId, Object.assign(fresh, { seq }))
      rules += fresh.rules
      makeRoom(orgId)
      return fresh
    })

  const organizationOf = (orgId: number): Promise<CachedFactors> => {
    const now = revision()
    if (now !== currentRevision) current.clear()
    currentRevision = now
    const known = current.get(orgId)
    if (known) return known
    const reading = refresh(orgId)
    current.set(orgId, reading)
    // The next caller tries again after a failure.
    reading.catch(() => current.delete(orgId))
    return reading
  }

  const levelOf = async (of: CachedFactors, orgId: number, userId: number): Promise<Level> => {
    const known = of.users.get(userId)
    if (known) return known
    const level = await read((db) => readUserLevel(db, { org_id: orgId, user_id: userId }))
    // A level without rules takes memory too.
    grow(orgId, of, level.size + 1)
    makeRoom(orgId)
    if (rules > rulesAtMost) {
      grow(orgId, of, of.organization.organization.size - of.rules)
      of.users.clear()
    } else of.users.set(userId, level)
    return level
  }

  return async (orgId, userId) => {
    const of = await organizationOf(orgId)
    return { ...of.organization, user: userId === undefined ? noRules : await levelOf(of, orgId, userId) }
  }
}
