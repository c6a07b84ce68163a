import { addMs, dayMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { ofLiveSignIn } from '../call/sign-in.ts'
import { type Member, organizationRow } from '../call/tenant.ts'
import { nameOf, noticeTime, notifyAdministrators } from '../devices/notices.ts'
import { keysBelow } from '../keys/ancestry.ts'
import { readCreatedKeys } from '../keys/keys.ts'
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
 * The keys that end with a membership, and those that go on for a while: they work now, and the person confirmed them to outlive
 * a sign-in.
 */
const readLeaving = async (call: Call, member: Member): Promise<{ ended: Set<number>; goOn: number[] }> => {
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
  const ids = new Set(confirmed.map(({ id }) => id))
  const others = (await keys.execute()).filter(({ id }) => !ids.has(id))
  const ended = await withBelow(call, others)
  return { ended, goOn: [...(await withBelow(call, confirmed))].filter((id) => !ended.has(id)) }
}

/** Ends the keys of a member who is about to leave, as `revokeKeysOfMember` does, but for those that go on for a while. */
export const endKeysOfLeaving = async (call: Call, member: Member): Promise<void> => {
  const { ended, goOn } = await readLeaving(call, member)
  if (ended.size > 0) await revokeKeys(call, [...ended])
  if (goOn.length > 0) await letGoOn(call, member, goOn)
}

const namesOfKeys = async (call: Call, ids: readonly number[]): Promise<string[]> => {
  const { created_keys: shown, created_keys_total: total } = await readCreatedKeys(call, ids)
  const more = total > shown.length ? [`+${total - shown.length}`] : []
  return [...shown.map(({ id, name }) => `${name} (${id})`), ...more]
}

/** What people read of the keys that end with a change of a membership, and of those that end 30 days later. */
export const leavingKeysText = async (call: Call, member: Member, goes: 'away' | 'on hold') => {
  const { ended, goOn } =
    goes === 'away'
      ? await readLeaving(call, member)
      : { ended: await withBelow(call, await ownedKeys(call, member).execute()), goOn: [] }
  const [ended_keys, kept_keys] = [await namesOfKeys(call, [...ended]), await namesOfKeys(call, goOn)]
  return { ...(ended_keys.length > 0 && { ended_keys }), ...(kept_keys.length > 0 && { kept_keys }) }
}
