import { addMs } from '../../core/iso-time.ts'
import type { KeyOwner } from '../../receipt/context.ts'
import type { Call } from '../call/call.ts'
import { type Caller, namedKeyOf } from '../call/caller.ts'
import { type Member, ofMember } from '../call/tenant.ts'
import { tooSoon } from '../limits/rate-limit.ts'
import type { Db } from '../storage/schema.ts'
import { refuseMuted } from './mutes.ts'

const maxPending = 3
/** Long requests, of each key and of all keys together. They are counted apart, because they wait for so long. */
const maxLong = { perKey: 10, perApprover: 20 }
/** In seconds. */
const shortLife = 3600
const windowMs = 10 * 60_000
/** No request lives longer. */
const longestLifeMs = 24 * 60 * 60_000
const windowText = `${windowMs / 60_000} minutes`

/** Requests that one key can make to an approver in the window. */
export const requestsPerKey = 5
/** Requests that all keys together can make, so that more keys do not mean more requests. */
export const requestsPerApprover = 15
/** How many of them are for keys with no request in the window, by no key of their owner, so that nobody can block another. */
const requestsReserved = 5

/** The requests that ask this person. */
const requestsTo = (db: Db, approver: Member) =>
  db
    .selectFrom('ballots as b')
    .innerJoin('approvals as a', 'a.request_id', 'b.request_id')
    .where(ofMember(approver, 'b'))
    // Of a use of a grant, nobody was asked.
    .where('a.granted_by', 'is', null)

/** Whether a request that lives this long is counted as a long one, which only a rule allows. */
export const isLong = (lifetime_s: number): boolean => lifetime_s > shortLife

const refusePending = async (call: Call, approver: Member, lifetime_s: number): Promise<void> => {
  const { db, now, caller } = call
  const pending = await requestsTo(db, approver)
    .where('a.status', '=', 'pending')
    .where('a.expires_at', '>', now)
    .select(['a.asked_by', 'a.requested_at', 'a.expires_at'])
    .orderBy('a.expires_at')
    .execute()
  const alike = pending.filter(
    ({ requested_at, expires_at }) =>
      isLong((Date.parse(expires_at) - Date.parse(requested_at)) / 1000) === isLong(lifetime_s),
  )
  const own = alike.filter(({ asked_by }) => asked_by === namedKeyOf(caller))
  const refuse = (message: string, [first]: typeof own): never => {
    throw tooSoon('too_many_pending', call, first!.expires_at, (wait) => ({
      message,
      hint: `Wait for one (the first expires in ${wait}), or withdraw one: svc approve list --status pending, svc approve cancel`,
    }))
  }
  const what = isLong(lifetime_s) ? 'pending requests of more than an hour' : 'pending requests'
  const { perKey, perApprover } = isLong(lifetime_s) ? maxLong : { perKey: maxPending, perApprover: Infinity }
  if (own.length >= perKey) refuse(`This key already has ${perKey} ${what} to this approver`, own)
  if (alike.length >= perApprover)
    refuse(`Several keys together have ${perApprover} ${what} to this approver`, alike)
}

/** Whether a request came from a key that the owner of the calling key confirmed, too. */
const isByOwner = (
  { key_owner }: { key_owner: string | null },
  { ownerId, ownerConfirmed }: Caller,
): boolean => {
  if (key_owner === null || ownerConfirmed !== true) return false
  const { user_id, confirmed } = JSON.parse(key_owner) as KeyOwner
  return confirmed && user_id === String(ownerId)
}

/**
 * The requests in the window, newest first. An approval resets the count, because the approver knows what is going on:
 * one for any key resets the count of all keys together, and one for this key resets the count of this key.
 */
const requestsInWindow = async ({ db, now, caller }: Call, approver: Member) => {
  const ofApprover = requestsTo(db, approver)
  const key = namedKeyOf(caller)
  const window = addMs(now, -windowMs)
  const inWindow = ofApprover
    .where('b.requested_at', '>', window)
    // A clock that was wrong wrote any time further ahead.
    .where('b.requested_at', '<=', addMs(now, windowMs))
    .select(['b.requested_at', 'a.key_owner'])
    .orderBy('b.requested_at', 'desc')
  const all = await inWindow.limit(requestsPerApprover).execute()
  // Of a group, most people were not asked just before.
  if (all.length === 0) return { all, own: [], hasAsked: false }
  const own = await inWindow.where('a.asked_by', '=', key).limit(requestsPerKey).execute()
  const approved = await ofApprover
    .where('a.status', '=', 'approved')
    .where('a.decided_at', '>', window)
    .where('a.decided_at', '<=', now)
    .where('b.requested_at', '>', addMs(window, -longestLifeMs))
    .select(({ fn }) => [
      fn.max('a.decided_at').as('any'),
      fn.max('a.decided_at').filterWhere('a.asked_by', '=', key).as('own'),
    ])
    .executeTakeFirst()
  return {
    all: all.filter(({ requested_at }) => requested_at > (approved?.any ?? window)),
    own: own.filter(({ requested_at }) => requested_at > (approved?.own ?? window)),
    hasAsked: own.length > 0 || all.some((one) => isByOwner(one, caller)),
  }
}

const refuseMany = async (call: Call, approver: Member): Promise<void> => {
  const { all, own, hasAsked } = await requestsInWindow(call, approver)
  const refuse = (message: string, { requested_at }: { requested_at: string }): never => {
    const until = addMs(requested_at, windowMs)
    throw tooSoon('too_many_rings', call, until, (wait) => ({ message, hint: `Try again in ${wait}` }))
  }
  if (own.length >= requestsPerKey)
    refuse(`This key sent this approver ${requestsPerKey} requests in the last ${windowText}`, own.at(-1)!)
  const max = hasAsked ? requestsPerApprover - requestsReserved : requestsPerApprover
  if (all.length >= max)
    refuse(
      `Several keys together sent this approver ${max} requests in the last ${windowText}`,
      all[max - 1]!,
    )
}

/** Refuses with 429 a request that would overload the approver. Runs in the transaction that adds the request. */
export const checkLimits = async (
  call: Call,
  approver: Member,
  { requester, lifetime_s }: { requester: string; lifetime_s: number },
): Promise<void> => {
  await refuseMuted(call, approver, requester)
  await refusePending(call, approver, lifetime_s)
  await refuseMany(call, approver)
}
