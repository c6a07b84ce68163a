import type { Call } from '../call/call.ts'
import { Refusal } from '../../core/refusal.ts'
import { later } from '../../core/later.ts'

/** So many turns in any stretch of `windowMs`. `kind` names what for. */
export type Limit = { kind: string; atMost: number; windowMs: number }

export type Turn = {
  taken: boolean
  /** Turns that are left now. */
  left: number
  /** When there is one again; now where some are left. */
  next_at: string
}

type Reach = Pick<Call, 'db' | 'now'>
type Of = { org_id: number; subject: string }

/** The turns that count now, the oldest first. One that lies more than a window ahead was taken by a clock that was wrong. */
const liveTurns = ({ db, now }: Reach, { kind, windowMs }: Limit, { org_id, subject }: Of) =>
  db
    .selectFrom('turns')
    .where('org_id', '=', org_id)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('at', '>', later(now, -windowMs))
    .where('at', '<=', later(now, windowMs))
    .select(['slot', 'at'])
    .orderBy('at')
    .execute()

/** One conditional statement: false when somebody was faster. */
const takeSlot = async ({ db, now }: Reach, { kind, windowMs }: Limit, of: Of, slot: number) => {
  const times = { at: now, until: later(now, windowMs) }
  const taken = await db
    .insertInto('turns')
    .values({ ...of, kind, slot, ...times })
    .onConflict((on) =>
      on
        .columns(['org_id', 'kind', 'subject', 'slot'])
        .doUpdateSet(times)
        .where(({ eb, or }) =>
          or([eb('turns.at', '<=', later(now, -windowMs)), eb('turns.at', '>', times.until)]),
        ),
    )
    .returning('slot')
    .executeTakeFirst()
  return taken !== undefined
}

/** Takes a turn of this subject, if there is one; taken in a transaction that goes back, it was not taken. */
export const takeTurn = async (reach: Reach, limit: Limit, of: Of): Promise<Turn> => {
  const slots = Array.from({ length: limit.atMost }, (_, slot) => slot)
  const look = async (): Promise<{ free: number[]; next_at: string }> => {
    const live = await liveTurns(reach, limit, of)
    const free = slots.filter((slot) => !live.some((turn) => turn.slot === slot))
    return { free, next_at: free.length > 0 ? reach.now : later(live[0]!.at, limit.windowMs) }
  }
  let { free, next_at } = await look()
  for (let slot = free[0]; slot !== undefined; slot = free[0]) {
    const taken = await takeSlot(reach, limit, of, slot)
    ;({ free, next_at } = await look())
    if (taken) return { taken, left: free.length, next_at }
    free = free.filter((one) => one > slot!)
  }
  return { taken: false, left: 0, next_at }
}

/** A stretch of time, for a person: `9 min 55 s`. */
export const spoken = (seconds: number): string =>
  [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')

/** 429 that says how long it is until the next turn; `what` says what was done too often. */
export const noTurn = (code: string, what: string, now: string, next_at: string): Refusal => {
  const seconds = Math.max(1, Math.ceil((Date.parse(next_at) - Date.parse(now)) / 1000))
  return new Refusal(429, code, `${what}; the next is allowed in ${spoken(seconds)}`, {
    hint: `Try again after ${next_at}`,
    headers: { 'retry-after': String(seconds) },
    data: { next_at },
  })
}

/** As if none had been taken. */
export const forgetTurns = async ({ db }: Pick<Call, 'db'>, { kind }: Limit, of: Of): Promise<void> => {
  await db
    .deleteFrom('turns')
    .where('org_id', '=', of.org_id)
    .where('kind', '=', kind)
    .where('subject', '=', of.subject)
    .execute()
}
