import type { key } from '../../contract/key.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { type Member, withinOrganization } from '../call/tenant.ts'
import { keysBelow } from '../keys/ancestry.ts'
import { newestSecret, readCreatedKeys, readSecrets, whyNot } from '../keys/keys.ts'
import { changeKeyRows } from '../keys/rows.ts'
import { everyScope } from '../keys/scopes.ts'
import type { Db } from '../storage/schema.ts'
import { isShared, lockOrganizations } from '../storage/transaction.ts'
import { expireDue } from './expiry.ts'

/** Locks the organizations of keys; true if one of them was not locked, so that keys may have been added meanwhile. */
const lockOrganizationsOf = async (db: Db, ids: readonly number[]): Promise<boolean> => {
  if (!isShared(db)) return false
  const keys = await db.selectFrom('api_keys').where('id', 'in', ids).select('org_id').distinct().execute()
  return lockOrganizations(
    db,
    keys.map(({ org_id }) => org_id ?? 0),
  )
}

/**
 * Revokes keys, and ends their pending requests and those of `others`, so that approvers and callers no longer wait. Returns the
 * number of requests that ended.
 */
export const revokeKeys = async (
  call: Call,
  ids: readonly number[],
  others: readonly number[] = [],
): Promise<number> => {
  for (const id of ids) {
    const [revoked] = await changeKeyRows(call, { revoked_at: call.now }, (keys) =>
      keys.where('id', '=', id).where('revoked_at', 'is', null),
    )
    if (revoked) await call.audit(revoked.org_id ?? 0, `key:${id}`, ['revoked_at'])
  }
  const keys = [...ids, ...others]
  let count = 0
  for (let ended = await expireDue(call.db, call.now, { keys }); ended.length > 0;) {
    for (const one of ended) call.wake(one)
    count += ended.length
    ended = await expireDue(call.db, call.now, { keys })
  }
  return count
}

/**
 * Revokes the keys that a former member owns in an organization, and the keys that those created. Keys of the whole
 * service stay, because the operator created them.
 */
export const revokeKeysOfMember = async (call: Call, { org_id, user_id }: Member): Promise<void> => {
  const owned = await call.db
    .selectFrom('api_keys')
    .where('owner_user_id', '=', user_id)
    .where('org_id', '=', org_id)
    .where('revoked_at', 'is', null)
    .select('id')
    .orderBy('id')
    .execute()
  const ids = new Set(owned.map(({ id }) => id))
  for (const { id } of owned) for (const below of await keysBelow(call.db, id)) ids.add(below)
  if (ids.size > 0) await revokeKeys(call, [...ids])
}

export const revokeKey: HandlerOf<typeof key.revokeKey> = async ({ id }, call) => {
  let below = await keysBelow(call.db, id)
  while (await lockOrganizationsOf(call.db, [id, ...below])) below = await keysBelow(call.db, id)
  const [row] = await changeKeyRows(call, { revoked_at: call.now }, (keys) =>
    keys
      .where('id', '=', id)
      .where(withinOrganization(call.caller.orgId, 'org_id'))
      .where('revoked_at', 'is', null)
      // The last operator key stays. One that expires does not count, because it locks the operator out later.
      .where(({ eb, or, exists, selectFrom }) =>
        or([
          eb('replaced', '=', 1),
          eb('org_id', 'is not', null),
          eb('scopes', '<>', everyScope),
          exists(
            selectFrom('api_keys as other')
              .select('other.id')
              .where('other.id', 'not in', [id, ...below])
              .where('other.org_id', 'is', null)
              .where('other.scopes', '=', everyScope)
              .where('other.revoked_at', 'is', null)
              .where('other.expires_at', 'is', null),
          ),
        ]),
      ),
  )
  if (!row) throw await whyNot(call, id, 'revoke')
  await call.audit(row.org_id ?? 0, `key:${id}`)
  const created = await readCreatedKeys(call, below)
  const secrets = row.replaced === 1 ? [] : await readSecrets(call, row)
  const ended_requests = await revokeKeys(call, below, [id])
  return {
    id,
    name: row.name,
    secrets: secrets.map((one) => one.id),
    ...created,
    ended_requests,
    newest_id: (await newestSecret(call, row)) ?? null,
  }
}
