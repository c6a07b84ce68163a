import { type Counted, quotas } from '../../contract/quotas.ts'
import { addMs, dayMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Claim, Moment } from '../call/service.ts'
import { tooSoon } from './rate-limit.ts'
import { bytesPerMib, counts, messagesOfDay, raiseHint, readLimit } from './values.ts'
import { isShared, transactionOf } from '../storage/transaction.ts'

const exceeded = (orgId: number, quota: Counted, limit: number): Refusal =>
  new Refusal(409, 'quota_exceeded', `${quotas[quota].about}: the limit of ${limit} is reached`, {
    hint: raiseHint(orgId, quota),
    data: { quota, limit },
  })

/** The refusal for messages says when the next one can be sent, because that quota is per day. `kept` are for others. */
const tooManyMessages = async (
  { db, now }: Moment,
  orgId: number,
  { limit, kept }: { limit: number; kept: number },
): Promise<Refusal> => {
  const blocking = await messagesOfDay(db, orgId, now)
    .select('created_at')
    .orderBy('created_at', 'desc')
    // The message of this transaction is already counted.
    .offset(limit - kept)
    .limit(1)
    .executeTakeFirst()
  const until = addMs(limit === 0 ? now : (blocking?.created_at ?? now), dayMs)
  return tooSoon(
    'rate_limited',
    { now },
    until,
    (wait) => ({
      message: `${quotas.sms_per_day.about}: the limit of ${limit} is reached${kept === 0 ? '' : `, but for ${kept} that register phones`}`,
      hint: `Try again in ${wait}. ${raiseHint(orgId, 'sms_per_day')}`,
    }),
    { quota: 'sms_per_day', limit },
  )
}

/** The part of the text messages that registers phones, so that no application can use all of them up. */
const reserved = 0.1

/** How long a full quota of bytes is not counted again: counting takes time, and its rows expire by themselves. */
const recountMs = 10_000

/** The most that a write with one row in the audit adds to a quota, on another node. */
const mostOfWrite: Record<Counted, number> = {
  users: 1,
  pending_approvals: 1,
  sms_per_day: 1,
  geofences: 1_000,
  timeslots: 1_000,
  groups: 1,
  keys: 1,
  idempotency_mib: 2 * bytesPerMib,
}

type Counting = {
  limit: number
  left: number
  /**
   * Where the audit ended at the count: every row since then may have added to the quota, on any node. Undefined if there is
   * no other node.
   */
  seq: number | undefined
  /** What was taken since the last row of the audit. */
  lastSeq: number | undefined
  lastTaken: number
}

/** Takes from what was left at the last count, if `kept` remain. */
const mayTake = (
  counting: Counting,
  quota: Counted,
  seq: number | undefined,
  { more, kept }: { more: number; kept: number },
): boolean => {
  if (seq === undefined || counting.seq === undefined) {
    if (counting.left < more + kept) return false
    counting.left -= more
    return true
  }
  if (counting.lastSeq !== seq) [counting.lastSeq, counting.lastTaken] = [seq, 0]
  const most = mostOfWrite[quota]
  const left = counting.left - (seq - counting.seq) * most - counting.lastTaken
  if (left < more + kept) return false
  // The row that this write appends counts as `most`.
  counting.left -= Math.max(0, more - most)
  counting.lastTaken += more
  return true
}

/**
 * Checks quotas without counting at each write. After a count, only claims reduce what is left and everything else
 * increases it, so a new count is needed only when nothing seems to be left.
 */
export const createClaims = (): Claim => {
  const counted = new Map<string, Counting>()
  const fullUntil = new Map<string, string>()

  return async (moment, orgId, quota, more = 1, registers = false) => {
    // Organization 0 is the service itself.
    if (orgId === 0) return
    const { db, now } = moment
    const name = `${orgId} ${quota}`
    const limit = await readLimit(db, orgId, quota)
    const isBytes = quota === 'idempotency_mib'
    const kept = quota === 'sms_per_day' && !registers ? Math.floor(limit * reserved) : 0
    const most = isBytes ? limit * bytesPerMib : limit
    const known = counted.get(name)
    const seq = isShared(db) ? transactionOf(db).head(orgId)?.seq : undefined
    if (known && known.limit === limit && mayTake(known, quota, seq, { more, kept })) return
    const full = fullUntil.get(name)
    if (known?.limit === limit && full !== undefined && full > now && full <= addMs(now, recountMs))
      throw exceeded(orgId, quota, limit)
    // The count includes what this transaction added.
    const left = most - (await counts[quota](db, orgId, now))
    counted.set(name, { limit, left: Math.max(left, 0), seq, lastSeq: seq, lastTaken: 0 })
    if (left >= kept) return
    if (isBytes) fullUntil.set(name, addMs(now, recountMs))
    throw quota === 'sms_per_day'
      ? await tooManyMessages(moment, orgId, { limit, kept })
      : exceeded(orgId, quota, limit)
  }
}
