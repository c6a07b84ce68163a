import { addMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import { tooSoon } from '../limits/rate-limit.ts'

const muteMs = 20 * 60_000

type Approver = { org_id: number; user_id: number }

/** Several agents may share the bearer of the tool server, so a mute there is of the name that one gives itself. */
const agentOf = (askedBy: number, requester: string): string => (askedBy === 0 ? requester : '')

const mutedAgentsAtMost = 1

/** Refuses a requester that this approver muted. */
export const refuseMuted = async (
  call: Call,
  { org_id, user_id }: Approver,
  requester: string,
): Promise<void> => {
  const { db, now, caller } = call
  const key = namedKeyOf(caller)
  const mutes = await db
    .selectFrom('mutes')
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .where('key_id', '=', key)
    .where('until', '>', now)
    .select(['agent', 'until'])
    .orderBy('until')
    .execute()
  // Names are claimed, so a second muted one mutes the bearer: nobody gets around a mute by another name.
  const mute =
    mutes.length > mutedAgentsAtMost
      ? mutes.at(-1)
      : mutes.find(({ agent }) => agent === '' || agent === agentOf(key, requester))
  if (mute)
    throw tooSoon('muted', call, mute.until, (wait) => ({
      message: 'The approver did not expect a request of this requester, which is muted for a while',
      hint: `Talk to the approver first. You can ask again in ${wait}`,
    }))
}

/** "This was not me": this requester cannot ask this approver again for a while. */
export const muteRequester = async (
  { db, now }: Call,
  row: Approver & { asked_by: number; requester: string },
): Promise<void> => {
  const { org_id, user_id, asked_by: key_id } = row
  const agent = agentOf(key_id, row.requester)
  const until = addMs(now, muteMs)
  await db
    .insertInto('mutes')
    .values({ org_id, user_id, key_id, agent, until })
    .onConflict((of) => of.columns(['org_id', 'user_id', 'key_id', 'agent']).doUpdateSet({ until }))
    .execute()
}

const pendingOfKey = 3
const windowMs = 10 * 60_000
const windowText = `${windowMs / 60_000} minutes`

/** How often one key may ask an approver in the window. */
export const asksOfKey = 5
/** How often all keys together may, so that more keys do not mean more requests without end. */
export const asksInAll = 15
/** The last of them are for keys that have not asked in the window: no application can use up what another needs. */
export const asksReserved = 5

const refusePending = async (call: Call, { org_id, user_id }: Approver): Promise<void> => {
  const { db, now, caller } = call
  const pending = await db
    .selectFrom('approvals')
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .where('asked_by', '=', namedKeyOf(caller))
    .where('status', '=', 'pending')
    .where('expires_at', '>', now)
    .select('expires_at')
    .orderBy('expires_at')
    .execute()
  if (pending.length >= pendingOfKey)
    throw tooSoon('too_many_pending', call, pending[0]!.expires_at, (wait) => ({
      message: `${pendingOfKey} requests of this key are already pending at this approver`,
      hint: `Wait for one (the first expires in ${wait}), or withdraw one: svc approve list --status pending, svc approve cancel <request-id>`,
    }))
}

/**
 * Who asked in the window, newest first. What an approval came after no longer counts, as whoever approves knows what is
 * going on: an approval of any key for all keys together, and an approval of this key for this key.
 */
const asksOf = async ({ db, now, caller }: Call, { org_id, user_id }: Approver) => {
  const ofApprover = db.selectFrom('approvals').where('org_id', '=', org_id).where('user_id', '=', user_id)
  const key = namedKeyOf(caller)
  const window = addMs(now, -windowMs)
  const approved = await ofApprover
    .where('status', '=', 'approved')
    .where('decided_at', '>', window)
    .where('decided_at', '<=', now)
    .select(({ fn }) => [
      fn.max('decided_at').as('any'),
      fn.max('decided_at').filterWhere('asked_by', '=', key).as('own'),
    ])
    .executeTakeFirst()
  const inWindow = ofApprover
    .where('requested_at', '>', window)
    // What lies further ahead is of a clock that was wrong.
    .where('requested_at', '<=', addMs(now, windowMs))
    .select('requested_at')
    .orderBy('requested_at', 'desc')
  const ofKey = inWindow.where('asked_by', '=', key)
  return {
    all: await inWindow
      .where('requested_at', '>', approved?.any ?? window)
      .limit(asksInAll)
      .execute(),
    own: await ofKey
      .where('requested_at', '>', approved?.own ?? window)
      .limit(asksOfKey)
      .execute(),
    hasAsked: (await ofKey.limit(1).executeTakeFirst()) !== undefined,
  }
}

const refuseAsks = async (call: Call, approver: Approver): Promise<void> => {
  const { all, own, hasAsked } = await asksOf(call, approver)
  const refuse = (message: string, { requested_at }: { requested_at: string }): never => {
    const until = addMs(requested_at, windowMs)
    throw tooSoon('too_many_rings', call, until, (wait) => ({ message, hint: `Try again in ${wait}` }))
  }
  if (own.length >= asksOfKey)
    refuse(`This key asked this approver ${asksOfKey} times in the last ${windowText}`, own.at(-1)!)
  const atMost = hasAsked ? asksInAll - asksReserved : asksInAll
  if (all.length >= atMost)
    refuse(
      `Several keys together asked this approver ${atMost} times in the last ${windowText}`,
      all[atMost - 1]!,
    )
}

/** Refuses with 429 what would wear an approver down. In the transaction that adds the request. */
export const checkLimits = async (call: Call, approver: Approver, requester: string): Promise<void> => {
  await refuseMuted(call, approver, requester)
  await refusePending(call, approver)
  await refuseAsks(call, approver)
}
