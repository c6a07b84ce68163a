import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'

/** `atMost` uses in any period of `windowMs`, for each `kind` of action. */
export type Limit = { kind: string; atMost: number; windowMs: number }

export type Consumption = {
  taken: boolean
  /** Uses that are left now. */
  left: number
  /** When the next use is possible; now if some are left. */
  next_at: string
}

type Deps = Pick<Call, 'db' | 'now'>
type Of = { org_id: number; subject: string }

/** The uses that count now, oldest first. One that is more than a window ahead was recorded by a wrong clock. */
const recentUses = ({ db, now }: Deps, { kind, windowMs }: Limit, { org_id, subject }: Of) =>
  db
    .selectFrom('turns')
    .where('org_id', '=', org_id)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('at', '>', addMs(now, -windowMs))
    .where('at', '<=', addMs(now, windowMs))
    .select(['slot', 'at'])
    .orderBy('at')
    .execute()

/** One conditional statement; false if another transaction took the slot first. */
const takeSlot = async ({ db, now }: Deps, { kind, windowMs }: Limit, of: Of, slot: number) => {
  const times = { at: now, until: addMs(now, windowMs) }
  const taken = await db
    .insertInto('turns')
    .values({ ...of, kind, slot, ...times })
    .onConflict((on) =>
      on
        .columns(['org_id', 'kind', 'subject', 'slot'])
        .doUpdateSet(times)
        .where(({ eb, or }) =>
          or([eb('turns.at', '<=', addMs(now, -windowMs)), eb('turns.at', '>', times.until)]),
        ),
    )
    .returning('slot')
    .executeTakeFirst()
  return taken !== undefined
}

/** Counts one use for a subject, if the limit allows it. A transaction that rolls back does not count. */
export const consume = async (deps: Deps, limit: Limit, of: Of): Promise<Consumption> => {
  const slots = Array.from({ length: limit.atMost }, (_, slot) => slot)
  const readFree = async (): Promise<{ free: number[]; next_at: string }> => {
    const recent = await recentUses(deps, limit, of)
    const free = slots.filter((slot) => !recent.some((use) => use.slot === slot))
    return { free, next_at: free.length > 0 ? deps.now : addMs(recent[0]!.at, limit.windowMs) }
  }
  let { free, next_at } = await readFree()
  for (let slot = free[0]; slot !== undefined; slot = free[0]) {
    const taken = await takeSlot(deps, limit, of, slot)
    ;({ free, next_at } = await readFree())
    if (taken) return { taken, left: free.length, next_at }
    free = free.filter((one) => one > slot!)
  }
  return { taken: false, left: 0, next_at }
}

/** A duration for a person: `9 min 55 s`. */
const durationText = (seconds: number): string =>
  [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')

// No limit has a window longer than a day; a longer wait comes from a wrong clock.
const mostSeconds = 86_400

/** 429 with `Retry-After`. `describe` gets the time until `until`, as text. */
export const tooSoon = (
  code: string,
  { now }: { now: string },
  until: string,
  describe: (wait: string) => { message: string; hint: string },
  data?: Record<string, unknown>,
): Refusal => {
  const left = Math.ceil((Date.parse(until) - Date.parse(now)) / 1000)
  const seconds = Math.min(Math.max(left, 1), mostSeconds)
  const { message, hint } = describe(durationText(seconds))
  return new Refusal(429, code, message, { hint, headers: { 'retry-after': String(seconds) }, data })
}

/** As `consume`, but throws 429 if the limit is reached. `what` names the action in the message. */
export const consumeOrRefuse = async (
  deps: Deps,
  limit: Limit,
  of: Of,
  { code, what }: { code: string; what: string },
): Promise<Consumption> => {
  const consumed = await consume(deps, limit, of)
  if (consumed.taken) return consumed
  const { next_at } = consumed
  throw tooSoon(
    code,
    deps,
    next_at,
    (wait) => ({ message: `${what}; the next is allowed in ${wait}`, hint: `Try again after ${next_at}` }),
    { next_at },
  )
}

/** Forgets all uses of a subject. */
export const resetLimit = async ({ db }: Pick<Call, 'db'>, { kind }: Limit, of: Of): Promise<void> => {
  await db
    .deleteFrom('turns')
    .where('org_id', '=', of.org_id)
    .where('kind', '=', kind)
    .where('subject', '=', of.subject)
    .execute()
}
