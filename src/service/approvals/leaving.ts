import { addMs, dayMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { ofLiveSignIn } from '../call/sign-in.ts'
import { type Member, organizationRow } from '../call/tenant.ts'
import { nameOf, noticeTime, notifyAdministrators } from '../devices/notices.ts'
import { keysBelow } from '../keys/ancestry.ts'
import { changeKeyRows, isLive } from '../keys/rows.ts'
import { revokeKeys } from './key-revocation.ts'

// The keys of a person who is no longer a member. Keys of the whole service stay, because the operator created them.

/** For how long a key that a person confirmed goes on without them: time to replace it. */
const goesOnMs = 30 * dayMs

const ownedKeys = ({ db }: Call, { org_id, user_id }: Member) =>
  db
    .selectFrom('api_keys')
    .where('owner_user_id', '=', user_id)
    .where('org_id', '=', org_id)
    .where('revoked_at', 'is', null)
    .select('id')
    .orderBy('id')

/** These keys, and those that they created. */
const withBelow = async (call: Call, owned: readonly { id: number }[]): Promise<Set<number>> => {
  const ids = new Set(owned.map(({ id }) => id))
  for (const { id } of owned) for (const below of await keysBelow(call.db, id)) ids.add(below)
  return ids
}

/** Revokes the keys that a member owns, and the keys that those created. */
export const revokeKeysOfMember = async (call: Call, member: Member): Promise<void> => {
  const ids = await withBelow(call, await ownedKeys(call, member).execute())
  if (ids.size > 0) await revokeKeys(call, [...ids])
}

/** Marks keys, lets them expire in time, and tells the administrators. */
const letGoOn = async (call: Call, member: Member, ids: readonly number[]): Promise<void> => {
  const marked = await changeKeyRows(call, { owner_left_at: call.now }, (keys) =>
    keys
      .where('id', 'in', ids)
      .where('org_id', '=', member.org_id)
      .where('owner_left_at', 'is', null)
      .where(isLive(call.now)),
  )
  const until = addMs(call.now, goesOnMs)
  await changeKeyRows(call, { expires_at: until }, (keys) =>
    keys
      .where('id', 'in', ids)
      .where('org_id', '=', member.org_id)
      .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', until)])),
  )
  for (const { id } of marked) await call.audit(member.org_id, `key:${id}`, ['owner_left_at', 'expires_at'])
  const { slug } = await organizationRow(call.db, member.org_id)
  await notifyAdministrators(call, member, {
    subject: 'Keys of a person who left',
    text: `${await nameOf(call.db, member)} is no longer a member. Keys that they confirmed, or that such a key created, work until ${noticeTime(until)} at the latest, so that you can replace them: ${marked.map(({ id }) => id).join(', ')}. To see them: svc key list --org ${slug}. To replace one: svc key create under another name, deploy that key, then svc key revoke ${ids[0]}`,
  })
}

/**
 * Ends the keys of a member who is about to leave, as `revokeKeysOfMember` does, but for those that work now and that the
 * person confirmed to outlive a sign-in: these go on for a while.
 */
export const endKeysOfLeaving = async (call: Call, member: Member): Promise<void> => {
  // A mark of a confirmed key is of an earlier goodbye; that of another is of the person whose key created it.
  const keys = ownedKeys(call, member).where(({ eb, or }) =>
    or([eb('owner_left_at', 'is', null), eb('owner_confirmed_at', 'is', null)]),
  )
  const confirmed = await keys
    .where('owner_confirmed_at', 'is not', null)
    .where('client_id', 'is', null)
    .where(isLive(call.now))
    .where(ofLiveSignIn('api_keys'))
    .execute()
  const goOn = new Set(confirmed.map(({ id }) => id))
  const others = (await keys.execute()).filter(({ id }) => !goOn.has(id))
  const revoked = await withBelow(call, others)
  const left = [...(await withBelow(call, confirmed))].filter((id) => !revoked.has(id))
  if (revoked.size > 0) await revokeKeys(call, [...revoked])
  if (left.length > 0) await letGoOn(call, member, left)
}
