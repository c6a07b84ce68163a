import type { Call } from '../call/call.ts'
import type { Member } from '../call/tenant.ts'
import { keysBelow } from '../keys/ancestry.ts'
import { changeKeyRows } from '../keys/rows.ts'
import { expireDue } from './expiry.ts'

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
