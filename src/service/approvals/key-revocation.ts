import type { Call } from '../call/call.ts'
import { changeKeyRows } from '../keys/rows.ts'
import { inParts } from '../storage/in-parts.ts'
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
  const found = await inParts(ids, (some) =>
    call.db
      .selectFrom('api_keys')
      .where('id', 'in', some)
      .where('revoked_at', 'is', null)
      .select('id')
      .execute(),
  )
  const live = new Set(found.map(({ id }) => id))
  for (const id of ids) {
    if (!live.has(id)) continue
    const [revoked] = await changeKeyRows(call, { revoked_at: call.now }, (keys) =>
      keys.where('id', '=', id).where('revoked_at', 'is', null),
    )
    if (revoked) await call.audit(revoked.org_id ?? 0, `key:${id}`, ['revoked_at'])
  }
  // The requests of the others ended with them.
  const keys = [...live, ...others]
  let count = 0
  for (let ended = await expireDue(call, call.now, { keys }); ended.length > 0;) {
    for (const one of ended) call.wake(one)
    count += ended.length
    ended = await expireDue(call, call.now, { keys })
  }
  return count
}
