import { sha256 } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import { type Member, ofMember } from '../call/tenant.ts'
import { isOfSame, within } from '../keys/ancestry.ts'
import { tooSoon } from '../limits/rate-limit.ts'
import type { Db } from '../storage/schema.ts'
import type { ApprovalRow } from './rows.ts'

export const muteMs = 20 * 60_000

/** A requester, as mutes distinguish them: a key by its first secret, and an agent if several share the bearer token. */
type Requester = { key_id: number; agent: string }

/** Several agents can share the bearer of the tool server, so a mute there applies to the name that one claims. */
export const requesterOf = ({
  asked_by: key_id,
  requester,
}: Pick<ApprovalRow, 'asked_by' | 'requester'>): Requester => ({
  key_id,
  agent: key_id === 0 ? requester : '',
})

const maxMutedAgents = 1

/** The mutes that still apply, of an approver, of some, or of an organization, the first to end first. */
export const readMutes = (
  db: Db,
  { org_id, user_id }: { org_id: number; user_id?: number | readonly number[] | undefined },
  now: string,
) =>
  db
    .selectFrom('mutes')
    .where('org_id', '=', org_id)
    .$if(user_id !== undefined, (query) => query.where('user_id', 'in', [user_id!].flat()))
    .where('until', '>', now)
    .select(['org_id', 'user_id', 'key_id', 'agent', 'until'])
    .orderBy('until')
    .execute()

type Mute = Awaited<ReturnType<typeof readMutes>>[number]

/** The mute that applies to a requester. Names are only claimed, so a second muted name mutes the bearer. */
const muteFor = (mutes: readonly Mute[], { key_id, agent: name }: Requester): Mute | undefined => {
  const ofKey = mutes.filter((mute) => mute.key_id === key_id)
  if (ofKey.length > maxMutedAgents) return ofKey.at(-1)
  return ofKey.find(({ agent }) => agent === '' || agent === name)
}

/** Whether the approver has muted the requester of a request. */
export const isMuted = (mutes: readonly Mute[], row: ApprovalRow): boolean =>
  muteFor(mutes, requesterOf(row)) !== undefined

/** Refuses a requester that this approver muted, and every other key of the same person, or below the muted one. */
export const refuseMuted = async (call: Call, approver: Member, requester: string): Promise<void> => {
  const { db, now, caller } = call
  const mutes = await readMutes(db, approver, now)
  const key = namedKeyOf(caller)
  let mute = muteFor(mutes, requesterOf({ asked_by: key, requester }))
  for (const one of mutes) {
    if (mute) break
    if (one.key_id !== key && (await isOfSame(within(call, approver.org_id), one.key_id, key))) mute = one
  }
  if (!mute) return
  throw tooSoon('muted', call, mute.until, (wait) => ({
    message: 'The approver has muted this requester for a while',
    hint: `Talk to the approver first. You can ask again in ${wait}`,
  }))
}

/** Stops a requester from asking this approver for a while. */
export const mute = async ({ db, now }: Call, { org_id, user_id }: Member, { key_id, agent }: Requester) => {
  const until = addMs(now, muteMs)
  await db
    .insertInto('mutes')
    .values({ org_id, user_id, key_id, agent, until })
    .onConflict((of) => of.columns(['org_id', 'user_id', 'key_id', 'agent']).doUpdateSet({ until }))
    .execute()
}

/** Identifies a mute among those of an approver: the key, and a digest of the name that an agent claims. */
export const muteIdOf = ({ key_id, agent }: Requester): string =>
  agent === '' ? String(key_id) : `${key_id}-${sha256(agent).slice(0, 16)}`

/** Lifts a mute. Requests that it ended stay ended. Returns false if no mute has this id. */
export const liftMute = async (
  call: Pick<Call, 'db' | 'now'>,
  member: Member,
  mute_id: string,
): Promise<Mute | undefined> => {
  const found = (await readMutes(call.db, member, call.now)).find((one) => muteIdOf(one) === mute_id)
  if (!found) return undefined
  await call.db
    .deleteFrom('mutes')
    .where(ofMember(member))
    .where('key_id', '=', found.key_id)
    .where('agent', '=', found.agent)
    .execute()
  return found
}
