import type { key } from '../../contract/key.ts'
import type { Call, Handlers } from '../call.ts'
import { expireDue } from '../approvals/expiry.ts'
import { newSecret } from '../keys.ts'
import { conflict, notFound, type Refusal } from '../refusal.ts'
import { later } from '../later.ts'
import { inPage } from './page.ts'
import { reachOrganization } from './tenant.ts'

const columns = [
  'id',
  'name',
  'org_id',
  'prefix',
  'created_at',
  'last_used_at',
  'expires_at',
  'revoked_at',
] as const
const day = 86_400

type Owned = { org_id: number | null }

const kindOf = ({ org_id }: Owned) => (org_id === null ? ('operator' as const) : ('organization' as const))

/** A key without its secret; `hash` is never read here. */
export const answeredKey = <Row extends Owned>(row: Row) => ({ ...row, kind: kindOf(row) })

export const selectKeys = (call: Call) => call.db.selectFrom('api_keys').select(columns)

/** Adds a key and shows its secret, this once. */
export const insertKey = async (call: Call, name: string, orgId: number | null, lineage?: number) => {
  const { key, prefix, hash } = newSecret(kindOf({ org_id: orgId }))
  const row = await call.db
    .insertInto('api_keys')
    .values({ name, org_id: orgId, prefix, hash, created_at: call.now, lineage })
    .returning(columns)
    .executeTakeFirstOrThrow()
  await call.audit(orgId ?? 0, `key:${row.id}`)
  return { ...answeredKey(row), key }
}

const nameIsTaken = async (call: Call, name: string, orgId: number | null): Promise<boolean> => {
  const found = await call.db
    .selectFrom('api_keys')
    .where('org_id', orgId === null ? 'is' : '=', orgId)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', call.now)]))
    .select('id')
    .executeTakeFirst()
  return found !== undefined
}

/** Why a key could not be rotated or revoked. */
const whyNot = async (call: Call, id: number): Promise<Refusal> => {
  const row = await selectKeys(call).where('id', '=', id).executeTakeFirst()
  if (!row) return notFound('Key')
  if (row.revoked_at !== null) return conflict('key_revoked', 'The key is revoked already')
  if (row.expires_at !== null)
    return conflict('key_rotated', 'The key was rotated already', 'rotate the newer key of the same name')
  return conflict(
    'last_operator_key',
    'This is the last operator key that stays',
    'svc key create --name <name> makes another; revoke this one with it',
  )
}

export const keyHandlers: Handlers<typeof key> = {
  whoAmI: async (_, call) => {
    const { keyId, orgId } = call.caller
    const row = await selectKeys(call)
      .where('id', '=', keyId)
      .where('org_id', orgId === null ? 'is' : '=', orgId)
      .executeTakeFirst()
    if (!row) throw notFound('Key')
    const organization = await call.db
      .selectFrom('organizations')
      .where('id', '=', row.org_id ?? 0)
      .select(['id', 'slug', 'name'])
      .executeTakeFirst()
    return { ...answeredKey(row), organization: organization ?? null }
  },

  listKeys: async ({ org_id }, call) => {
    const orgId = org_id ?? call.caller.orgId
    if (orgId !== null) await reachOrganization(call, orgId)
    const query = selectKeys(call).$if(orgId !== null, (own) => own.where('org_id', '=', orgId!))
    return call.paged(await inPage(query, 'id', call.page).execute(), (row) => row.id).map(answeredKey)
  },

  createKey: async ({ name, org_id }, call) => {
    const orgId = org_id ?? null
    if (orgId !== null) await reachOrganization(call, orgId)
    if (await nameIsTaken(call, name, orgId))
      throw conflict(
        'name_taken',
        `A key named ${name} is there already`,
        'give another name, or rotate that key',
      )
    return insertKey(call, name, orgId)
  },

  rotateKey: async ({ id, overlap_s = day }, call) => {
    const old = await call.db
      .updateTable('api_keys')
      .set({ expires_at: later(call.now, overlap_s * 1000) })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .where('expires_at', 'is', null)
      .returning(['name', 'org_id', 'lineage'])
      .executeTakeFirst()
    if (!old) throw await whyNot(call, id)
    await call.audit(old.org_id ?? 0, `key:${id}`, ['expires_at'])
    return insertKey(call, old.name, old.org_id, old.lineage ?? id)
  },

  revokeKey: async ({ id }, call) => {
    const row = await call.db
      .updateTable('api_keys')
      .set({ revoked_at: call.now })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      // One that only lives out an overlap does not count: the operator would be locked out when it ends.
      .where(({ eb, or, exists, selectFrom }) =>
        or([
          eb('org_id', 'is not', null),
          exists(
            selectFrom('api_keys as other')
              .select('other.id')
              .where('other.id', '<>', id)
              .where('other.org_id', 'is', null)
              .where('other.revoked_at', 'is', null)
              .where('other.expires_at', 'is', null),
          ),
        ]),
      )
      .returning('org_id')
      .executeTakeFirst()
    if (!row) throw await whyNot(call, id)
    await call.audit(row.org_id ?? 0, `key:${id}`)
    // What this key asked can no longer be approved: no approver is shown it, and who waits is told.
    for (const ended of await expireDue(call.db, call.now)) call.wake(ended)
  },
}
