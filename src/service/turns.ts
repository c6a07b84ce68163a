import type { Call } from './call.ts'
import { Refusal } from './refusal.ts'

/** So many turns in any stretch of `windowMs`. `kind` names what for. */
export type Limit = { kind: string; atMost: number; windowMs: number }

export type Turn = {
  taken: boolean
  /** Turns that are left now. */
  left: number
  /** When there is one again; now where some are left. */
  next_at: string
}

/**
 * Takes a turn of this subject, if there is one. Each slot is taken by one conditional statement, so no two take the
 * same; a turn that is taken in a transaction that goes back was not taken.
 */
export const takeTurn = async (
  { db, now }: Pick<Call, 'db' | 'now'>,
  { kind, atMost, windowMs }: Limit,
  of: { org_id: number; subject: string },
): Promise<Turn> => {
  const since = new Date(Date.parse(now) - windowMs).toISOString()
  let taken = false
  for (let slot = 0; slot < atMost && !taken; slot++) {
    const row = await db
      .insertInto('turns')
      .values({ ...of, kind, slot, at: now, until: new Date(Date.parse(now) + windowMs).toISOString() })
      .onConflict((on) =>
        on
          .columns(['org_id', 'kind', 'subject', 'slot'])
          .doUpdateSet(({ ref }) => ({ at: ref('excluded.at'), until: ref('excluded.until') }))
          .where('turns.at', '<=', since),
      )
      .returning('slot')
      .executeTakeFirst()
    taken = row !== undefined
  }
  const live = await db
    .selectFrom('turns')
    .where('org_id', '=', of.org_id)
    .where('kind', '=', kind)
    .where('subject', '=', of.subject)
    .where('at', '>', since)
    .select('until')
    .orderBy('until')
    .execute()
  const left = Math.max(0, atMost - live.length)
  return { taken, left, next_at: left > 0 ? now : live[0]!.until }
}

const spoken = (seconds: number): string =>
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
