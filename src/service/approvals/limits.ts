import { addMs, dayMs } from '../../core/iso-time.ts'
import type { KeyOwner } from '../../receipt/context.ts'
import type { Call } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import { type Member, ofMember } from '../call/tenant.ts'
import { findHolder, within, type Within } from '../keys/ancestry.ts'
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
const longestLifeMs = dayMs
const windowText = `${windowMs / 60_000} minutes`

/** Requests that one key can make to an approver in the window. */
export const requestsPerKey = 5
/** Requests that all keys together can make, so that more keys do not mean more requests. */
export const requestsPerApprover = 15
/**
 * What else counts of a request. `byRule`: the service itself requests the approval that a call requires. `breaksGlass`: the
 * requester may answer.
 */
export type Asking = { requester: string; lifetime_s: number; byRule: boolean; breaksGlass?: boolean }

/** Counted apart, so that no request of another kind stops it, and it stops none. A consent is to a call of a key of one's own. */
type Kind = 'emergency' | 'consent' | 'ordinary'

const kindOf = ({ caller }: Call, { user_id }: Member, { byRule, breaksGlass }: Asking): Kind => {
  if (breaksGlass) return 'emergency'
  return byRule && caller.ownerConfirmed === true && caller.ownerId === user_id ? 'consent' : 'ordinary'
}

/** The requests of this kind that ask this person. */
const requestsTo = (db: Db, approver: Member, kind: Kind) =>
  db
    .selectFrom('ballots as b')
    .innerJoin('approvals as a', 'a.request_id', 'b.request_id')
    .where(ofMember(approver, 'b'))
    // Of a use of a grant, nobody was asked.
    .where('a.granted_by', 'is', null)
    .where('a.break_glass', kind === 'emergency' ? 'is not' : 'is', null)
    .where(({ eb, and, not, selectFrom }) => {
      const own = selectFrom('api_keys')
        .where('owner_user_id', '=', approver.user_id)
        .where('owner_confirmed_at', 'is not', null)
      const isConsent = and([eb('a.by_rule', '=', 1), eb('a.asked_by', 'in', own.select('id'))])
      return kind === 'consent' ? isConsent : not(isConsent)
    })

type Asked = { asked_by: number; key_owner: string | null }

/** Who is behind a request: the person of its key, or else what `findHolder` finds. */
const behind = async (own: Within, { asked_by, key_owner }: Asked): Promise<string> => {
  const owner = key_owner === null ? undefined : (JSON.parse(key_owner) as KeyOwner)
  return owner?.confirmed ? `user:${owner.user_id}` : findHolder(own, asked_by)
}

/**
 * To how many requests in all the caller can add one: the more of them are their own, the more they leave to others, so that
 * nobody can block another, however many keys they have.
 */
const mostWith = async (
  call: Call,
  orgId: number,
  requests: readonly Asked[],
  most: number,
): Promise<number> => {
  if (requests.length * 2 < most) return most
  const { caller } = call
  const keys = within(call, orgId)
  const isPerson = caller.person !== undefined || caller.ownerConfirmed === true
  const own = isPerson ? `user:${caller.ownerId}` : await findHolder(keys, namedKeyOf(caller))
  let left = most
  for (const one of requests) if ((await behind(keys, one)) === own) left -= 1
  return Math.max(left, 1)
}

/** Whether a request that lives this long is counted as a long one, which only a rule allows. */
export const isLong = (lifetime_s: number): boolean => lifetime_s > shortLife

const refusePending = async (call: Call, approver: Member, kind: Kind, lifetime_s: number): Promise<void> => {
  const { db, now, caller } = call
  const pending = await requestsTo(db, approver, kind)
    .where('a.status', '=', 'pending')
    .where('a.expires_at', '>', now)
    .select(['a.asked_by', 'a.key_owner', 'a.requested_at', 'a.expires_at'])
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
      hint: `Wait for one (the first expires in ${wait}), or withdraw one: svc approve list --status pending, svc approve withdraw`,
    }))
  }
  const what = isLong(lifetime_s) ? 'pending requests of more than an hour' : 'pending requests'
  const { perKey, perApprover } = isLong(lifetime_s) ? maxLong : { perKey: maxPending, perApprover: Infinity }
  if (own.length >= perKey) refuse(`This key already has ${perKey} ${what} to this approver`, own)
  const most = await mostWith(call, approver.org_id, alike, perApprover)
  if (alike.length >= most)
    refuse(`Several keys together have ${alike.length} ${what} to this approver`, alike.slice(-most))
}

/**
 * The requests in the window, newest first. The approver's own approval resets the count, because they know what is going on:
 * one for any key resets the count of all keys together, and one for this key resets the count of this key.
 */
const requestsInWindow = async ({ db, now, caller }: Call, approver: Member, kind: Kind) => {
  const ofApprover = requestsTo(db, approver, kind)
  const key = namedKeyOf(caller)
  const window = addMs(now, -windowMs)
  const inWindow = ofApprover
    .where('b.requested_at', '>', window)
    // A clock that was wrong wrote any time further ahead.
    .where('b.requested_at', '<=', addMs(now, windowMs))
    .select(['b.requested_at', 'a.asked_by', 'a.key_owner'])
    .orderBy('b.requested_at', 'desc')
  const all = await inWindow.limit(requestsPerApprover).execute()
  // Of a group, most people were not asked just before.
  if (all.length === 0) return { all, own: [] }
  const own = await inWindow.where('a.asked_by', '=', key).limit(requestsPerKey).execute()
  const approved = await ofApprover
    .where('a.status', '=', 'approved')
    .where('b.status', '=', 'approved')
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
  }
}

const refuseMany = async (call: Call, approver: Member, kind: Kind): Promise<void> => {
  const { all, own } = await requestsInWindow(call, approver, kind)
  const refuse = (message: string, { requested_at }: { requested_at: string }): never => {
    const until = addMs(requested_at, windowMs)
    throw tooSoon('too_many_rings', call, until, (wait) => ({
      message,
      hint: `Try again in ${wait}, or once the approver has approved one of them`,
    }))
  }
  if (own.length >= requestsPerKey)
    refuse(`This key sent this approver ${requestsPerKey} requests in the last ${windowText}`, own.at(-1)!)
  const most = await mostWith(call, approver.org_id, all, requestsPerApprover)
  if (all.length >= most)
    refuse(
      `Several keys together sent this approver ${all.length} requests in the last ${windowText}`,
      all[most - 1]!,
    )
}

/** Refuses with 429 a request that would overload the approver. Runs in the transaction that adds the request. */
export const checkLimits = async (call: Call, approver: Member, asking: Asking): Promise<void> => {
  const kind = kindOf(call, approver, asking)
  await refuseMuted(call, approver, asking.requester)
  await refusePending(call, approver, kind, asking.lifetime_s)
  await refuseMany(call, approver, kind)
}
