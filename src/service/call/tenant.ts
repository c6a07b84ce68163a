import { expressionBuilder, type Selectable, sql, type SqlBool } from 'kysely'
import type { Policy } from '../../contract/policy.ts'
import { conflict, invalid, notFound, type Refusal } from '../../core/refusal.ts'
import type { Db, Tables } from '../storage/schema.ts'
import { statement } from '../storage/statement.ts'
import { storeChanged } from '../storage/store-changed.ts'
import type { Call } from './call.ts'
import type { Authenticated } from './caller.ts'

type Deps = Pick<Call, 'db' | 'caller' | 'preconditions'>

/** A person in an organization. */
export type Member = { org_id: number; user_id: number }

/** Compares columns of any table that are numbers. */
const numbers = () => expressionBuilder<Record<string, Record<string, number>>, string>()

/** True of a row that belongs to this member. */
export const ofMember = ({ org_id, user_id }: Member, table?: string) => {
  const eb = numbers()
  const column = (name: string) => (table === undefined ? name : `${table}.${name}`)
  return eb.and([eb(column('org_id'), '=', org_id), eb(column('user_id'), '=', user_id)])
}

/** Refuses another tenant's organization in the same way as one that does not exist. */
const refuseForeign = (call: Deps, orgId: number): void => {
  if (call.caller.orgId !== null && call.caller.orgId !== orgId) throw notFound('Organization')
}

const findOrganization = statement((db, { orgId }: { orgId: number }) =>
  db.selectFrom('organizations').where('id', '=', orgId).select('id'),
)

/** True of a row within the organization of a caller; of every row for a caller of the whole service. */
export const withinOrganization = (orgId: number | null, column: string) =>
  orgId === null ? sql<SqlBool>`1 = 1` : numbers()(column, '=', orgId)

/** Throws 404 unless the organization exists and the caller reaches it; every operation on one starts here. */
export const reachOrganization = async (call: Deps, orgId: number): Promise<void> => {
  refuseForeign(call, orgId)
  const { db, preconditions } = call
  const exists =
    preconditions?.orgId === orgId
      ? preconditions.hasRules !== null
      : (await findOrganization(db, { orgId })).rows.length > 0
  if (!exists) throw notFound('Organization')
}

/** 422 for a user in several organizations. */
export const severalOrganizations = (who: string, found: readonly { org_id: number }[]): Refusal =>
  invalid(
    'org_id',
    `is required: ${who} is in several organizations`,
    `use org_id, one of ${[...new Set(found.map(({ org_id }) => org_id))].join(', ')}`,
  )

/** The organization of a user-level operation: the one in the input, the caller's, or the user's only one. */
export const organizationOfUser = async (call: Deps, userId: number, orgId?: number): Promise<number> => {
  if (orgId !== undefined) refuseForeign(call, orgId)
  const meant = orgId ?? call.caller.orgId
  const memberships = await call.db
    .selectFrom('memberships')
    .where('user_id', '=', userId)
    .where('state', '<>', 'removed')
    .where(withinOrganization(meant, 'org_id'))
    .select('org_id')
    .orderBy('org_id')
    .execute()
  const [first, ...others] = memberships
  if (!first) throw notFound('User')
  if (others.length > 0) throw severalOrganizations('the user', memberships)
  return first.org_id
}

/** Input fields that name the organization, by id or by slug. */
const idFields = ['org_id', 'orgId'] as const

const slugFields = ['orgIdOrSlug', 'org_code'] as const

/**
 * The second tenant wall, in addition to `org_id` in each statement: for a key of an organization, every other organization
 * does not exist.
 */
export const refuseForeignTenant = (caller: Authenticated, input: Record<string, unknown>): void => {
  const { orgId, orgSlug } = caller
  if (orgId === null) return
  const foreign =
    idFields.some((name) => input[name] !== undefined && input[name] !== orgId) ||
    slugFields.some(
      (name) => input[name] !== undefined && input[name] !== orgSlug && input[name] !== String(orgId),
    )
  if (foreign) throw notFound('Organization')
}

/** True of a row whose user is an active member of its organization, checked by the statement itself. */
export const ofActiveMember = (table: 'ballots' | 'enrollments' | 'verifications') => {
  const { exists, selectFrom } = expressionBuilder<Tables>()
  return exists(
    selectFrom('memberships as m')
      .where('m.org_id', '=', sql.ref<number>(`${table}.org_id`))
      .where('m.user_id', '=', sql.ref<number>(`${table}.user_id`))
      .where('m.state', '=', 'active')
      .select('m.id'),
  )
}

/** For a join with the membership `m` of the user of a row. */
export const ofMembership = (row: string) =>
  sql<boolean>`(m.org_id = ${sql.ref(`${row}.org_id`)} and m.user_id = ${sql.ref(`${row}.user_id`)})`

/** A member of an organization, in any state. */
export const reachMember = async ({ db }: Pick<Call, 'db'>, member: Member): Promise<void> => {
  await db
    .selectFrom('memberships')
    .where(ofMember(member))
    .select('id')
    .executeTakeFirstOrThrow(() => notFound('User'))
}

/** Those of these people who are members in one of these states, in rising order. */
export const membersAmong = async (
  db: Db,
  orgId: number,
  ids: readonly number[],
  states: readonly Tables['memberships']['state'][],
): Promise<number[]> => {
  const rows = await db
    .selectFrom('memberships')
    .where('org_id', '=', orgId)
    .where('user_id', 'in', [...ids, 0])
    // A condition on the state would make the store look at every active member.
    .select(['user_id', 'state'])
    .orderBy('user_id')
    .execute()
  return rows.flatMap(({ user_id, state }) => (states.includes(state) ? user_id : []))
}

/** Throws 409 if another program has changed it into something else than JSON. */
export const policyOf = ({ slug, policy }: { slug: string; policy: string }): Policy => {
  try {
    return JSON.parse(policy) as Policy
  } catch {
    throw conflict(
      'organization_altered',
      `Another program has changed the policy of the organization ${slug} in the store`,
      'Ask the operator to restore a backup',
    )
  }
}

/** Throws if another program has changed the slug, which names the organization to people and to callers. */
export const requireOwnSlug = (
  { keyring }: Pick<Call, 'keyring'>,
  row: Pick<Selectable<Tables['organizations']>, 'id' | 'slug' | 'row_mac'>,
): void => {
  if (keyring.holds('organizations', row)) return
  throw conflict(
    'organization_altered',
    `Another program has changed the slug of organization ${row.id} in the store`,
    `Ask the operator to set it again: svc org update ${row.id} --slug SLUG`,
  )
}

/** The slug of an organization, proven. */
export const ownSlug = async (call: Pick<Call, 'db' | 'keyring'>, id: number): Promise<string> => {
  const row = await call.db
    .selectFrom('organizations')
    .where('id', '=', id)
    .select(['id', 'slug', 'row_mac'])
    .executeTakeFirstOrThrow(() => notFound('Organization'))
  requireOwnSlug(call, row)
  return row.slug
}

export const organizationRow = async (db: Db, orgId: number) => {
  const { policy, ...row } = await db
    .selectFrom('organizations')
    .where('id', '=', orgId)
    .select(['name', 'slug', 'policy'])
    .executeTakeFirstOrThrow(() => notFound('Organization'))
  return { ...row, policy: policyOf({ slug: row.slug, policy }) }
}

/** Throws if another program has changed the number of a person: links and codes go there, and people read it. */
export const requireOwnNumber = (
  { keyring }: Pick<Call, 'keyring'>,
  person: Omit<Selectable<Tables['people']>, 'created_at'>,
): void => {
  if (!keyring.holds('people', person)) throw storeChanged(`the number of user ${person.id}`)
}

export const readPeople = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  userIds: readonly number[],
): Promise<Selectable<Tables['people']>[]> => {
  const people = await db.selectFrom('people').where('id', 'in', userIds).selectAll().execute()
  for (const person of people) requireOwnNumber({ keyring }, person)
  return people
}

/** The numbers of people by their ids. */
export const readMobiles = async (
  call: Pick<Call, 'db' | 'keyring'>,
  userIds: readonly number[],
): Promise<Map<number, string>> =>
  new Map((await readPeople(call, userIds)).map(({ id, mobile }) => [id, mobile]))

export const readMobile = async (call: Pick<Call, 'db' | 'keyring'>, userId: number): Promise<string> => {
  const mobile = (await readMobiles(call, [userId])).get(userId)
  if (mobile === undefined) throw notFound('User')
  return mobile
}
