import { type Counted, quotas } from '../../contract/quotas.ts'
import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Claim, Moment } from '../call/service.ts'
import { tooSoon } from './rate-limit.ts'
import { bytesPerMib, counts, dayMs, messagesOfDay, raiseHint, readLimit } from './values.ts'

const exceeded = (orgId: number, quota: Counted, limit: number): Refusal =>
  new Refusal(409, 'quota_exceeded', `${quotas[quota].about}: the limit of ${limit} is reached`, {
    hint: raiseHint(orgId, quota),
    data: { quota, limit },
  })

/** A quota of messages is one of time: it says when the next message can be sent. */
const tooManyMessages = async ({ db, now }: Moment, orgId: number, limit: number): Promise<Refusal> => {
  const counting = await messagesOfDay(db, orgId, now)
    .select('created_at')
    .orderBy('created_at', 'desc')
    // The message of this transaction is among them.
    .offset(limit)
    .limit(1)
    .executeTakeFirst()
  const until = addMs(limit === 0 ? now : (counting?.created_at ?? now), dayMs)
  return tooSoon(
    'rate_limited',
    { now },
    until,
    (wait) => ({
      message: `${quotas.sms_per_day.about}: the limit of ${limit} is reached`,
      hint: `Try again in ${wait}. ${raiseHint(orgId, 'sms_per_day')}`,
    }),
    { quota: 'sms_per_day', limit },
  )
}

/** After this long a quota of bytes is added up again: that takes time, and its rows go by themselves. */
const patienceMs = 10_000

/**
 * Checks quotas without counting at each write: what is left after a count is only used up by claims, and everything else
 * gives room back. So it counts again only when nothing seems to be left.
 */
export const createClaims = (): Claim => {
  const left = new Map<string, { limit: number; rest: number }>()
  const fullUntil = new Map<string, string>()

  return async (reach, orgId, quota, more = 1) => {
    // Organization 0 is the service itself.
    if (orgId === 0) return
    const { db, now } = reach
    const name = `${orgId} ${quota}`
    const limit = await readLimit(db, orgId, quota)
    const isBytes = quota === 'idempotency_mib'
    const most = isBytes ? limit * bytesPerMib : limit
    const known = left.get(name)
    if (known && known.limit === limit && known.rest >= more) {
      known.rest -= more
      return
    }
    const full = fullUntil.get(name)
    if (known?.limit === limit && full !== undefined && full > now && full <= addMs(now, patienceMs))
      throw exceeded(orgId, quota, limit)
    // What was added is in the count already.
    const rest = most - (await counts[quota](db, orgId, now))
    left.set(name, { limit, rest: Math.max(rest, 0) })
    if (rest >= 0) return
    if (isBytes) fullUntil.set(name, addMs(now, patienceMs))
    throw quota === 'sms_per_day' ? await tooManyMessages(reach, orgId, limit) : exceeded(orgId, quota, limit)
  }
}
