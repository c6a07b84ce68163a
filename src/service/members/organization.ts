import type { Policy } from '../../contract/policy.ts'
import { slug as slugSchema } from '../../contract/records.ts'
import { table } from '../../contract/table.ts'
import { slugify } from '../../core/ids.ts'
import { conflict, forbidden, invalid, notFound, type Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { changedFields } from '../call/input.ts'
import { readPage } from '../call/pagination.ts'
import { policyOf, reachOrganization, requireOwnSlug, withinOrganization } from '../call/tenant.ts'
import { requireScope } from '../keys/scopes.ts'
import { refuseImpossible } from '../policy/device-policy.ts'
import { checkPolicy, refuseWeaker } from '../policy/protections.ts'
import type { Tables } from '../storage/schema.ts'
import { statement } from '../storage/statement.ts'
import { idGivenAgain } from '../storage/store-changed.ts'
import { lockOrganizations, transactionOf } from '../storage/transaction.ts'
import { eraseAccounts, erasePeople } from './erasure.ts'

type NewOrganization = { name: string; slug?: string | undefined; policy?: Policy | undefined }

type Row = Omit<Tables['organizations'], 'id'> & { id: number }

/** Words of paths, which a slug must not be. */
const reserved = new Set(
  Object.values(table)
    .map((operation) => /^\/organization\/([a-z-]+)(?:\/|$)/.exec(operation.path)?.[1])
    .filter((word) => word !== undefined),
)

const toOrganizationRecord = ({ row_mac: _mac, ...row }: Row) => ({
  ...row,
  policy: policyOf(row),
})

const checkSlug = (slug: string): string => {
  if (reserved.has(slug)) throw invalid('slug', `must not be ${slug}: that word is reserved`)
  return slug
}

const slugOf = (name: string): string => {
  const slug = slugify(name)
  if (!slugSchema.safeParse(slug).success || reserved.has(slug))
    throw invalid('slug', 'cannot be derived from this name', 'Set one: --slug acme')
  return slug
}

const slugTaken = (slug: string): Refusal =>
  conflict('slug_taken', `The slug ${slug} is taken`, 'Use another one: --slug')

/** The names of the fields that are set, with one name for each key of the policy. */
const fieldNames = (input: Partial<NewOrganization>): string[] =>
  Object.entries(input).flatMap(([name, value]) => {
    if (value === undefined) return []
    return name === 'policy' ? Object.keys(value).map((key) => `policy.${key}`) : [name]
  })

const addOrganization = statement(
  (db, { name, slug, policy, at }: Record<'name' | 'slug' | 'policy' | 'at', string>) =>
    db
      .insertInto('organizations')
      .values({ name, slug, policy, created_at: at, updated_at: at })
      .onConflict((of) => of.column('slug').doNothing())
      .returning('id'),
)

/** The MAC covers the id, which only the insert yields. */
const sealOrganization = statement((db, { id, row_mac }: { id: number; row_mac: string }) =>
  db.updateTable('organizations').set({ row_mac }).where('id', '=', id),
)

export const insertOrganization = async (call: Call, { name, slug, policy = {} }: NewOrganization) => {
  const own = slug === undefined ? slugOf(name) : checkSlug(slug)
  const checked = checkPolicy(policy)
  refuseImpossible(checked, call.service)
  const text = JSON.stringify(checked)
  const [row] = (await addOrganization(call.db, { name, slug: own, policy: text, at: call.now })).rows
  if (!row) throw slugTaken(own)
  await lockOrganizations(call.db, [row.id])
  if (transactionOf(call.db).head(row.id)) throw idGivenAgain('organization', row.id)
  const row_mac = call.keyring.macOf('organizations', { id: row.id, slug: own })
  await sealOrganization(call.db, { id: row.id, row_mac })
  await call.audit(row.id, `organization:${row.id}`, fieldNames({ name, slug, policy }))
  return { id: row.id, name, slug: own, policy: checked, created_at: call.now, updated_at: call.now }
}

const findOrganization = async (call: Call, idOrSlug: number | string): Promise<Row> => {
  const row = await call.db
    .selectFrom('organizations')
    .$if(typeof idOrSlug === 'number', (query) => query.where('id', '=', idOrSlug as number))
    .$if(typeof idOrSlug === 'string', (query) => query.where('slug', '=', idOrSlug as string))
    .where(withinOrganization(call.caller.orgId, 'id'))
    .selectAll()
    .executeTakeFirstOrThrow(() => notFound('Organization'))
  // Whoever names an organization by its slug would act in another one.
  if (typeof idOrSlug === 'string') requireOwnSlug(call, row)
  return row
}

export const listOrganizations: HandlerOf<'listOrganizations'> = async (_, call) => {
  const query = call.db
    .selectFrom('organizations')
    .where(withinOrganization(call.caller.orgId, 'id'))
    .selectAll()
  return (await readPage(call, query, 'id')).map(toOrganizationRecord)
}

/** A slug is never all digits, so an id and a slug cannot be confused. */
export const getOrganization: HandlerOf<'getOrganization'> = async ({ orgIdOrSlug: text }, call) =>
  toOrganizationRecord(await findOrganization(call, /^\d{1,15}$/.test(text) ? Number(text) : text))

export const createOrganization: HandlerOf<'createOrganization'> = (input, call) =>
  insertOrganization(call, input)

/** Changes the fields that are set. */
export const updateOrganization: HandlerOf<'updateOrganization'> = async ({ org_id, ...input }, call) => {
  const present = await findOrganization(call, org_id)
  const { policy, ...naming } = changedFields(input, ['name', 'slug', 'policy'])
  if (Object.keys(naming).length > 0) requireScope({ scope: 'keys' }, call.caller)
  if (policy !== undefined) requireScope({ scope: 'rules' }, call.caller)
  const presentPolicy = policyOf(present)
  refuseWeaker(call, presentPolicy, policy)
  const nextPolicy = { ...presentPolicy, ...checkPolicy(policy ?? {}) }
  if (policy !== undefined) refuseImpossible(nextPolicy, call.service)
  const slug = naming.slug === undefined ? present.slug : checkSlug(naming.slug)
  // A key of the organization can repeat a slug that another program has changed.
  const isSealed = naming.slug !== undefined && call.caller.orgId === null
  // Slugs are unique over all organizations, so an answer about another slug would reveal theirs.
  if (call.caller.orgId !== null && slug !== present.slug)
    throw forbidden(
      'operator_only',
      'Only an operator key can change the slug of an organization',
      'Use the key of the operator (SVC_API_KEY or its profile), or leave slug out',
    )
  // New organizations, which could take the slug at the same time, have this lock.
  if (slug !== present.slug) await lockOrganizations(call.db, [0])
  const row = await call.db
    .updateTable('organizations')
    .set({
      ...naming,
      policy: JSON.stringify(nextPolicy),
      updated_at: call.now,
      ...(isSealed && { row_mac: call.keyring.macOf('organizations', { id: org_id, slug }) }),
    })
    .where('id', '=', org_id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('organizations as other')
            .select('other.id')
            .where('other.slug', '=', slug)
            .where('other.id', '<>', org_id),
        ),
      ),
    )
    .returningAll()
    .executeTakeFirstOrThrow(() => slugTaken(slug))
  await call.audit(org_id, `organization:${org_id}`, fieldNames({ ...naming, policy }))
  return toOrganizationRecord(row)
}

export const deleteOrganization: HandlerOf<'deleteOrganization'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  const people = await call.db
    .deleteFrom('memberships')
    .where('org_id', '=', org_id)
    .returning('user_id')
    .execute()
  const registered = await eraseAccounts(call.db, org_id)
  // Foreign keys delete codes, keys, geofences, time slots and devices with it. Its audit stays.
  await call.db.deleteFrom('organizations').where('id', '=', org_id).execute()
  await call.db.deleteFrom('webhooks').where('org_id', '=', org_id).execute()
  await erasePeople(call, [...people.map((row) => row.user_id), ...registered])
  await call.audit(org_id, `organization:${org_id}`)
  call.wake({ org_id, users: people.map(({ user_id }) => user_id) })
}
