import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'

/** So many turns in any stretch of `windowMs`. `kind` names what for. */
export type Limit = { kind: string; atMost: number; windowMs: number }

export type Consumption = {
  taken: boolean
  /** Turns that are left now. */
  left: number
  /** When there is one again; now where some are left. */
  next_at: string
}

type Deps = Pick<Call, 'db' | 'now'>
type Of = { org_id: number; subject: string }

/** The turns that count now, the oldest first. One that lies more than a window ahead was taken by a clock that was wrong. */
const liveTurns = ({ db, now }: Deps, { kind, windowMs }: Limit, { org_id, subject }: Of) =>
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

/** One conditional statement: false when somebody was faster. */
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

/** Takes a turn of this subject, if there is one; taken in a transaction that goes back, it was not taken. */
export const consume = async (deps: Deps, limit: Limit, of: Of): Promise<Consumption> => {
  const slots = Array.from({ length: limit.atMost }, (_, slot) => slot)
  const look = async (): Promise<{ free: number[]; next_at: string }> => {
    const live = await liveTurns(deps, limit, of)
    const free = slots.filter((slot) => !live.some((turn) => turn.slot === slot))
    return { free, next_at: free.length > 0 ? deps.now : addMs(live[0]!.at, limit.windowMs) }
  }
  let { free, next_at } = await look()
  for (let slot = free[0]; slot !== undefined; slot = free[0]) {
    const taken = await takeSlot(deps, limit, of, slot)
    ;({ free, next_at } = await look())
    if (taken) return { taken, left: free.length, next_at }
    free = free.filter((one) => one > slot!)
  }
  return { taken: false, left: 0, next_at }
}

/** A stretch of time, for a person: `9 min 55 s`. */
const spoken = (seconds: number): string =>
  [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')

// No limit looks further back than a day; what lies further ahead is of a clock that was wrong.
const mostSeconds = 86_400

/** 429 with `Retry-After`; `say` gets the time until `until`, in words. */
export const tooSoon = (
  code: string,
  { now }: { now: string },
  until: string,
  say: (wait: string) => { message: string; hint: string },
  data?: Record<string, unknown>,
): Refusal => {
  const left = Math.ceil((Date.parse(until) - Date.parse(now)) / 1000)
  const seconds = Math.min(Math.max(left, 1), mostSeconds)
  const { message, hint } = say(spoken(seconds))
  return new Refusal(429, code, message, { hint, headers: { 'retry-after': String(seconds) }, data })
}

/** As `consume`; fails with 429 where the limit is reached. `what` says what was done too often. */
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

/** As if none had been taken. */
export const resetLimit = async ({ db }: Pick<Call, 'db'>, { kind }: Limit, of: Of): Promise<void> => {
  await db
    .deleteFrom('turns')
    .where('org_id', '=', of.org_id)
    .where('kind', '=', kind)
    .where('subject', '=', of.subject)
    .execute()
}
