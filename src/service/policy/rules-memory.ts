import { compileLevel, type Level } from '../../rules/level.ts'
import type { RulesMemory } from '../call/service.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import { type OrganizationRules, readOrganizationRules, readUserLevel } from './rules.ts'

/** Writes that change no rule. One that is not named here makes the rules be read anew, which is slower and never wrong. */
const harmless = [
  'createApproval',
  'decideApproval',
  'cancelApproval',
  'expireApproval',
  'clearApprovals',
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

/** Rules of all organizations together. One with more rules than this is kept alone. */
const rulesAtMost = 300_000

type Kept = {
  seq: number
  organization: OrganizationRules
  users: Map<number, Level>
  /** Of the organization and of the users that are kept. */
  rules: number
}

const nobody = compileLevel({ fences: [], slots: [] })

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
 * same transaction, on whichever node. While nothing at all is committed, not even the audit is read.
 */
export const createRulesMemory = ({ read, revision }: Pick<Storage, 'read' | 'revision'>): RulesMemory => {
  /** The organization used last stands last. */
  const kept = new Map<number, Kept>()
  /** What is read, or was read, at the present revision: many who ask at once share one reading. */
  const present = new Map<number, Promise<Kept>>()
  let presentAt = -1
  let rules = 0

  const forget = (orgId: number): void => {
    rules -= kept.get(orgId)?.rules ?? 0
    kept.delete(orgId)
  }

  const grow = (orgId: number, of: Kept, by: number): void => {
    of.rules += by
    if (kept.get(orgId) === of) rules += by
  }

  const makeRoom = (orgId: number): void => {
    for (const other of kept.keys()) {
      if (rules <= rulesAtMost) return
      if (other === orgId) continue
      forget(other)
      present.delete(other)
    }
  }

  const refresh = (orgId: number): Promise<Kept> =>
    read(async (db) => {
      // Before the rows: what changes between the two is then read again, and not missed.
      const seq = await headOf(db, orgId)
      const known = kept.get(orgId)
      const current = known && !(await changedAfter(db, orgId, known.seq)) ? known : undefined
      const organization = current?.organization ?? (await readOrganizationRules(db, orgId))
      forget(orgId)
      const { size } = organization.organization
      const fresh = current ?? { seq, organization, users: new Map<number, Level>(), rules: size }
      kept.set(orgId, Object.assign(fresh, { seq }))
      rules += fresh.rules
      makeRoom(orgId)
      return fresh
    })

  const organizationOf = (orgId: number): Promise<Kept> => {
    const now = revision()
    if (now !== presentAt) present.clear()
    presentAt = now
    const known = present.get(orgId)
    if (known) return known
    const reading = refresh(orgId)
    present.set(orgId, reading)
    // One that failed is tried again by whoever asks next.
    reading.catch(() => present.delete(orgId))
    return reading
  }

  const levelOf = async (of: Kept, orgId: number, userId: number): Promise<Level> => {
    const known = of.users.get(userId)
    if (known) return known
    const level = await read((db) => readUserLevel(db, orgId, userId))
    // A level without a rule takes room, too.
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
    return { ...of.organization, user: userId === undefined ? nobody : await levelOf(of, orgId, userId) }
  }
}
