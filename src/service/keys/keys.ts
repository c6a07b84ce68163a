import type { key } from '../../contract/key.ts'
import { keyRecord as recordSchema } from '../../contract/records.ts'
import { scopesOf } from '../../contract/scopes.ts'
import { addMs } from '../../core/iso-time.ts'
import { conflict, notFound, type Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import { readPage } from '../call/page.ts'
import { reachOrganization, withinOrganization } from '../call/tenant.ts'
import { checkExpiry, checkGrant, checkOwner, checkRotation, keysBelow } from './ancestry.ts'
import { lockOrganizations } from '../storage/transaction.ts'
import { readPreconditions, requireLiveKey } from '../call/preconditions.ts'
import { type KeyKind, newSecret } from './authenticator.ts'
import { changeKeyRows, insertKeyRow, isAuthenticKey, isLive } from './rows.ts'
import { isOperatorKey, readScopes, scopesText } from './scopes.ts'

const { kind: _, ...stored } = recordSchema.shape
const columns = Object.keys(stored) as (keyof typeof stored)[]
const day = 86_400

type KeyRights = { org_id: number | null; scopes: string }

const kindOf = (key: KeyRights): KeyKind => {
  if (key.org_id !== null) return 'organization'
  return isOperatorKey(key) ? 'operator' : 'service'
}

/** A key as the API returns it, without its secret. */
export const keyRecord = <Row extends KeyRights>(row: Row) => ({
  ...row,
  scopes: [...readScopes(row.scopes)],
  kind: kindOf(row),
})

export const selectKeys = (call: Call) => call.db.selectFrom('api_keys').select(columns)

/** One key that the caller reaches. */
const selectKey = (call: Call, id: number) =>
  selectKeys(call).where('id', '=', id).where(withinOrganization(call.caller.orgId, 'org_id'))

type NewKey = {
  name: string
  org_id: number | null
  scopes: string
  expires_at?: string | null
  owner_user_id?: number | null
  created_by: number | null
  /** The first secret of the key, if this one replaces another. */
  lineage?: number
}

/** Adds a key and returns its secret, which nothing shows again. */
export const insertKey = async (call: Call, values: NewKey) => {
  // Whoever revokes the caller's key revokes what it created, so both wait for each other.
  const { db, caller, now } = call
  const own = caller.orgId ?? 0
  if (await lockOrganizations(db, [own]))
    requireLiveKey(await readPreconditions(db, caller.keyId, own), caller, now)
  const secret = newSecret(kindOf(values))
  const { id } = await insertKeyRow(call, secret, { ...values, created_at: call.now })
  await call.audit(values.org_id ?? 0, `key:${id}`)
  const row = await selectKeys(call).where('id', '=', id).executeTakeFirstOrThrow()
  return { ...keyRecord(row), key: secret.key }
}

const nameIsTaken = async (call: Call, name: string, orgId: number | null): Promise<boolean> => {
  const found = await call.db
    .selectFrom('api_keys')
    .where('org_id', orgId === null ? 'is' : '=', orgId)
    .where('name', '=', name)
    .where(isLive(call.now))
    .select('id')
    .executeTakeFirst()
  return found !== undefined
}

/** Why a key could not be rotated or revoked. */
export const whyNot = async (call: Call, id: number, action: 'rotate' | 'revoke'): Promise<Refusal> => {
  const row = await selectKey(call, id).select('replaced').executeTakeFirst()
  if (!row) return notFound('Key')
  if (row.revoked_at !== null) return conflict('key_revoked', 'The key is already revoked')
  if (action === 'revoke')
    return conflict(
      'last_operator_key',
      'This would revoke the last operator key: with a key, its other secrets and the keys that it created are revoked',
      'svc key rotate <key-id> --overlap 0 replaces the secret of a key; svc key list shows the newest',
    )
  if (row.replaced === 1)
    return conflict('key_rotated', 'The key was already rotated', 'rotate the newer key of the same name')
  return conflict('key_expired', 'The key has expired')
}

export const whoAmI: HandlerOf<typeof key.whoAmI> = async (_, call) => {
  const { keyId, orgId } = call.caller
  const row = await selectKeys(call)
    .where('id', '=', keyId)
    .where('org_id', orgId === null ? 'is' : '=', orgId)
    .executeTakeFirstOrThrow(() => notFound('Key'))
  const organization = await call.db
    .selectFrom('organizations')
    .where('id', '=', row.org_id ?? 0)
    .select(['id', 'slug', 'name'])
    .executeTakeFirst()
  return { ...keyRecord(row), organization: organization ?? null }
}

export const listKeys: HandlerOf<typeof key.listKeys> = async ({ org_id }, call) => {
  const orgId = org_id ?? call.caller.orgId
  if (orgId !== null) await reachOrganization(call, orgId)
  const query = selectKeys(call).where(withinOrganization(orgId, 'org_id'))
  return (await readPage(call, query, 'id')).map(keyRecord)
}

export const getKey: HandlerOf<typeof key.getKey> = async ({ id }, call) => {
  const row = await selectKey(call, id).executeTakeFirstOrThrow(() => notFound('Key'))
  const created = await selectKeys(call)
    .where('id', 'in', [...(await keysBelow(call.db, id)), 0])
    .where('replaced', '=', 0)
    .where(isLive(call.now))
    .orderBy('id')
    .execute()
  return { ...keyRecord(row), created_keys: created.map(keyRecord) }
}

export const createKey: HandlerOf<typeof key.createKey> = async (
  { name, org_id, scopes: granted, expires_at: until, owner_user_id },
  call,
) => {
  const expires_at = until === undefined ? undefined : new Date(until).toISOString()
  const orgId = org_id ?? call.caller.orgId
  if (orgId !== null) await reachOrganization(call, orgId)
  const scopes = scopesOf(granted)
  checkGrant(call.caller, scopes)
  checkExpiry(call, expires_at)
  await checkOwner(call, orgId, owner_user_id)
  if (await nameIsTaken(call, name, orgId))
    throw conflict('name_taken', `A key named ${name} already exists`, 'use another name, or rotate that key')
  return insertKey(call, {
    name,
    org_id: orgId,
    scopes: scopesText(scopes),
    expires_at: expires_at ?? null,
    owner_user_id: owner_user_id ?? null,
    created_by: namedKeyOf(call.caller),
  })
}

export const rotateKey: HandlerOf<typeof key.rotateKey> = async ({ id, overlap_s = day }, call) => {
  const old = await call.db
    .selectFrom('api_keys')
    .where('id', '=', id)
    .where(withinOrganization(call.caller.orgId, 'org_id'))
    .selectAll()
    .executeTakeFirstOrThrow(() => notFound('Key'))
  if (!isAuthenticKey(call.keyring, old))
    throw conflict(
      'key_not_authentic',
      'Another program has changed this key in the store, so it is not used',
      `svc key revoke ${id}, then svc key create`,
    )
  await checkRotation(call, old)
  const until = addMs(call.now, overlap_s * 1000)
  const expires_at = old.expires_at !== null && old.expires_at < until ? old.expires_at : until
  const [replaced] = await changeKeyRows(call, { replaced: 1, expires_at }, (keys) =>
    keys
      .where('id', '=', id)
      .where(withinOrganization(call.caller.orgId, 'org_id'))
      .where('replaced', '=', 0)
      .where(isLive(call.now)),
  )
  if (!replaced) throw await whyNot(call, id, 'rotate')
  // The caller gets the new secret, so it must not have more rights than the caller.
  checkGrant(call.caller, readScopes(old.scopes))
  checkExpiry(call, old.expires_at ?? undefined)
  await call.audit(old.org_id ?? 0, `key:${id}`, ['expires_at'])
  const { name, org_id, scopes, owner_user_id, created_by, lineage } = old
  return insertKey(call, {
    name,
    org_id,
    scopes,
    expires_at: old.expires_at,
    owner_user_id,
    created_by,
    lineage: lineage ?? id,
  })
}
