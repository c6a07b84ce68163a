import { namedKeyOf, type Call } from '../call.ts'
import { Refusal } from '../refusal.ts'
import { later } from '../later.ts'
import { spoken } from '../turns.ts'

const pendingAtMost = 3
const ringsAtMost = 5
const windowMs = 10 * 60_000
export const muteMs = 20 * 60_000

type Approver = { org_id: number; user_id: number }

/** `hint` is told how long it takes until a request is allowed again. */
const limited = (
  code: string,
  message: string,
  hint: (wait: string) => string,
  { now }: Pick<Call, 'now'>,
  until: string,
): Refusal => {
  const left = Math.ceil((Date.parse(until) - Date.parse(now)) / 1000)
  const seconds = Math.min(Math.max(left, 1), 3600)
  return new Refusal(429, code, message, {
    hint: hint(spoken(seconds)),
    headers: { 'retry-after': String(seconds) },
  })
}

/** Several agents may share the bearer of the tool server, so a mute there is of the name that one gives itself. */
const agentOf = (askedBy: number, requester: string): string => (askedBy === 0 ? requester : '')

const mutedAgentsAtMost = 1

const refuseMuted = async (call: Call, { org_id, user_id }: Approver, requester: string): Promise<void> => {
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
    throw limited(
      'muted',
      'The approver did not expect a request of this requester, which is muted for a while',
      (wait) => `Talk to the approver first. You can ask again in ${wait}`,
      call,
      mute.until,
    )
}

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
  if (pending.length >= pendingAtMost)
    throw limited(
      'too_many_pending',
      `${pendingAtMost} requests of this key are already pending at this approver`,
      (wait) =>
        `Wait for one (the first expires in ${wait}), or withdraw one: svc approve list --status pending, svc approve cancel <request-id>`,
      call,
      pending[0]!.expires_at,
    )
}

/** Rings in the window; an approval ends the count, as who approves knows what is going on. */
const refuseRings = async (call: Call, { org_id, user_id }: Approver): Promise<void> => {
  const { db, now } = call
  const ofApprover = db.selectFrom('approvals').where('org_id', '=', org_id).where('user_id', '=', user_id)
  const approved = await ofApprover
    .where('status', '=', 'approved')
    .select(({ fn }) => fn.max('decided_at').as('at'))
    .executeTakeFirst()
  const window = later(now, -windowMs)
  const since = approved?.at && approved.at > window && approved.at <= now ? approved.at : window
  const rings = await ofApprover
    .where('requested_at', '>', since)
    // What lies further ahead is of a clock that was wrong.
    .where('requested_at', '<=', later(now, windowMs))
    .select('requested_at')
    .orderBy('requested_at', 'desc')
    .limit(ringsAtMost)
    .execute()
  if (rings.length >= ringsAtMost)
    throw limited(
      'too_many_rings',
      `This approver was asked ${ringsAtMost} times in the last ${windowMs / 60_000} minutes`,
      (wait) => `Try again in ${wait}`,
      call,
      later(rings.at(-1)!.requested_at, windowMs),
    )
}

/** Refuses with 429 what would wear an approver down. In the transaction that adds the request. */
export const checkLimits = async (call: Call, approver: Approver, requester: string): Promise<void> => {
  await refuseMuted(call, approver, requester)
  await refusePending(call, approver)
  await refuseRings(call, approver)
}

/** "This was not me": this requester cannot ask this approver again for a while. */
export const muteRequester = async (
  { db, now }: Call,
  row: Approver & { asked_by: number; requester: string },
): Promise<void> => {
  const { org_id, user_id, asked_by: key_id } = row
  const agent = agentOf(key_id, row.requester)
  const until = later(now, muteMs)
  await db
    .insertInto('mutes')
    .values({ org_id, user_id, key_id, agent, until })
    .onConflict((of) => of.columns(['org_id', 'user_id', 'key_id', 'agent']).doUpdateSet({ until }))
    .execute()
}
