import { keyRecord as recordSchema } from '../../contract/records.ts'
import { scopesOf } from '../../contract/scopes.ts'
import { conflict, invalid, notFound, type Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { namedKeyOf, requireOwner } from '../call/caller.ts'
import { ofLiveSignIn } from '../call/sign-in.ts'
import { readPage } from '../call/pagination.ts'
import { reachOrganization, withinOrganization } from '../call/tenant.ts'
import {
  checkDepth,
  checkExpiry,
  checkGrant,
  checkOwner,
  findPersonKey,
  keysBelow,
  requireNewestSecret,
  secretsOf,
  within,
} from './ancestry.ts'
import { type KeyKind, newSecret } from './authenticator.ts'
import { insertKeyRow, isLive, type KeyRow, type NewKeyRow } from './rows.ts'
import { isOperatorKey, readScopes, scopeMissing, scopesText } from './scopes.ts'
import { inParts } from '../storage/in-parts.ts'

const { kind: _, root_id: __, ended: ___, ...stored } = recordSchema.shape
const columns = Object.keys(stored) as (keyof typeof stored)[]

type KeyRights = { org_id: number | null; scopes: string }

const kindOf = (key: KeyRights): KeyKind => {
  if (key.org_id !== null) return 'organization'
  return isOperatorKey(key) ? 'operator' : 'service'
}

/** A key as the API returns it, without its secret. */
export const keyRecord = <
  Row extends KeyRights & { id: number; lineage: number | null; replaced: 0 | 1; works: boolean },
>({
  replaced,
  lineage,
  works,
  ...row
}: Row) => ({
  ...row,
  scopes: [...readScopes(row.scopes)],
  kind: kindOf(row),
  root_id: lineage ?? row.id,
  replaced: replaced === 1,
  ended: works ? null : ('signed_out' as const),
})

export const selectKeys = (call: Call) =>
  call.db
    .selectFrom('api_keys')
    .select([...columns, 'lineage'])
    .select(ofLiveSignIn('api_keys').as('works'))

/** One key that the caller reaches. */
const selectKey = (call: Call, id: number) =>
  selectKeys(call).where('id', '=', id).where(withinOrganization(call.caller.orgId, 'org_id'))

type NewKey = KeyRights & Omit<NewKeyRow, 'created_at'>

/** Adds a key and returns its secret, which nothing shows again. `requireNewestSecret` comes first. */
export const insertKey = async (call: Call, values: NewKey) => {
  const secret = newSecret(kindOf(values))
  const { id } = await insertKeyRow(call, secret, { ...values, created_at: call.now })
  await call.audit(values.org_id ?? 0, `key:${id}`)
  const row = await selectKeys(call).where('id', '=', id).executeTakeFirstOrThrow()
  return { ...keyRecord(row), key: secret.key }
}

const requireFreeName = async (call: Call, name: string, orgId: number | null): Promise<void> => {
  const found = await call.db
    .selectFrom('api_keys')
    .where('org_id', orgId === null ? 'is' : '=', orgId)
    .where('name', '=', name)
    .where(isLive(call.now))
    .select(['id', 'owner_left_at'])
    .executeTakeFirst()
  if (!found) return
  throw conflict(
    'name_taken',
    `A key named ${name} already exists`,
    found.owner_left_at === null
      ? 'use another name, or rotate that key'
      : `Its owner left: use another name, such as ${name}-2, deploy that key, and then: svc key revoke ${found.id}`,
  )
}

/** Why a key could not be rotated or revoked. */
export const whyNot = async (call: Call, id: number, action: 'rotate' | 'revoke'): Promise<Refusal> => {
  const row = await selectKey(call, id).executeTakeFirst()
  if (!row) return notFound('Key')
  if (row.revoked_at !== null) return conflict('key_revoked', 'The key is already revoked')
  if (action === 'revoke')
    return conflict(
      'last_operator_key',
      'This would revoke the last operator key: with a key, the keys that it created are revoked',
      `svc key rotate ${id} --overlap 0 replaces its secret and ends the old one`,
    )
  const newest = row.replaced === 1 ? await newestSecret(call, row) : undefined
  if (newest !== undefined)
    return conflict(
      'key_rotated',
      `Secret ${id} was already replaced; the newest secret of the key is ${newest}`,
      `svc key revoke ${id} ends this secret now; svc key rotate ${newest} replaces the newest one`,
    )
  return conflict('key_expired', 'The key has expired', 'svc key create creates another one')
}

/** The id of the secret that no rotation has replaced; undefined if the key has ended. */
export const newestSecret = async (
  { db, now }: Call,
  row: Pick<KeyRow, 'id' | 'lineage' | 'org_id'>,
): Promise<number | undefined> =>
  (await secretsOf(db, row).where('replaced', '=', 0).where(isLive(now)).select('id').executeTakeFirst())?.id

const mostShown = 100

/** The newest secrets among these rows that work, at most 100, and their number. */
export const readCreatedKeys = async (call: Call, ids: readonly number[]) => {
  const live = await inParts(ids, (some) =>
    selectKeys(call).where('id', 'in', some).where('replaced', '=', 0).where(isLive(call.now)).execute(),
  )
  const shown = live.toSorted((a, b) => a.id - b.id).slice(0, mostShown)
  return { created_keys: shown.map(keyRecord), created_keys_total: live.length }
}

/** The older and newer secrets of a key that work. */
export const readSecrets = ({ db, now }: Call, row: Pick<KeyRow, 'id' | 'lineage' | 'org_id'>) =>
  secretsOf(db, row)
    .where('id', '<>', row.id)
    .where(isLive(now))
    .select(['id', 'prefix', 'expires_at'])
    .orderBy('id')
    .execute()

export const whoAmI: HandlerOf<'whoAmI'> = async (_, call) => {
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
  return {
    ...keyRecord(row),
    organization: organization ?? null,
    service_version: call.service.node().version,
  }
}

export const listKeys: HandlerOf<'listKeys'> = async ({ org_id, mine = false, owner_user_id }, call) => {
  const { caller } = call
  const owner = mine ? requireOwner(caller) : undefined
  if (owner === undefined && !caller.scopes.has('keys')) throw scopeMissing(caller, 'keys')
  const orgId = org_id ?? caller.orgId
  if (orgId !== null) await reachOrganization(call, orgId)
  const query = selectKeys(call)
    .where(withinOrganization(orgId, 'org_id'))
    .$if(owner !== undefined, (keys) =>
      keys.where('owner_user_id', '=', owner!).where('owner_confirmed_at', 'is not', null),
    )
    .$if(owner_user_id !== undefined, (keys) => keys.where('owner_user_id', '=', owner_user_id!))
  return (await readPage(call, query, 'id')).map(keyRecord)
}

/** A key with its other secrets and the keys that it created. */
export const readKeyDetails = async (call: Call, id: number) => {
  const row = await selectKey(call, id).executeTakeFirstOrThrow(() => notFound('Key'))
  return {
    ...keyRecord(row),
    secrets: await readSecrets(call, row),
    newest_id: (await newestSecret(call, row)) ?? null,
    ...(await readCreatedKeys(call, await keysBelow(call.db, id))),
  }
}

/**
 * Demands that the person of a terminal signs what outlives the sign-in. A key is then theirs, goes back to their device, and
 * does not end with the key of the terminal. `separated`: of a person other than the caller.
 */
export const demandConsent = (
  { caller, demandApproval }: Call,
  orgId: number,
  { person = caller.ownerId!, separated = false } = {},
): void =>
  demandApproval({
    orgId,
    lines: [{ members: [person], need: 1, group: null, rules: [], separated }],
    rules: [],
    holding: [],
  })

export const createKey: HandlerOf<'createKey'> = async (
  { name, org_id, scopes: granted, expires_at: until, owner_user_id },
  call,
) => {
  const expires_at = until === undefined ? undefined : new Date(until).toISOString()
  await requireNewestSecret(call)
  const orgId = org_id ?? call.caller.orgId
  if (orgId !== null) await reachOrganization(call, orgId)
  const scopes = scopesOf(granted)
  const { signedInWith, ownerId } = call.caller
  const isOwn = signedInWith !== undefined
  // A key that nobody consented to would outlive the sign-in, or speak for somebody else.
  if (isOwn && owner_user_id !== undefined && owner_user_id !== ownerId)
    throw invalid(
      'owner_user_id',
      `must be left out, or ${ownerId}: whoever is signed in creates keys of their own`,
    )
  // A person can always ask, but never gives a key more than their terminal can do.
  checkGrant(call.caller, isOwn ? scopes.filter((scope) => scope !== 'ask') : scopes)
  if (!isOwn) await checkDepth(call, namedKeyOf(call.caller))
  checkExpiry(call, expires_at, { byConsent: isOwn })
  await checkOwner(call, orgId, owner_user_id)
  if (isOwn) demandConsent(call, orgId!)
  if (orgId !== null) await call.claim(orgId, 'keys')
  await requireFreeName(call, name, orgId)
  return insertKey(call, {
    name,
    org_id: orgId,
    scopes: scopesText(scopes),
    expires_at: expires_at ?? null,
    ...(isOwn
      ? {
          owner_user_id: ownerId!,
          owner_confirmed_at: call.now,
          created_by: null,
          consented_with: signedInWith,
        }
      : {
          owner_user_id: owner_user_id ?? null,
          created_by: namedKeyOf(call.caller),
          person_key: await findPersonKey(within(call, call.caller.orgId), namedKeyOf(call.caller)),
        }),
  })
}
