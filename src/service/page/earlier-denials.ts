import { addMs, dayMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { isGenuine } from '../approvals/genuine.ts'
import { toLineRecords } from '../approvals/lines.ts'
import { endingOf } from './outcome.ts'

/** Who denied the same subject before, when, and with which note. */
export type EarlierDenial = { name: string; own?: true; at: string; note?: string }

const mostRead = 100

/**
 * The last denial by a person within a day for each of these subjects of one organization, by digest. Whoever asks again is
 * allowed to, but not without the next approvers reading it.
 */
export const readEarlierDenials = async (
  { db, now, keyring }: Pick<Call, 'db' | 'now' | 'keyring'>,
  { org_id, user_id }: { org_id: number; user_id: number },
  digests: readonly string[],
): Promise<Map<string, EarlierDenial>> => {
  const rows = await db
    .selectFrom('approvals')
    .where('org_id', '=', org_id)
    .where('subject_digest', 'in', digests)
    .where('status', '=', 'denied')
    .where('decided_at', '>', addMs(now, -dayMs))
    .orderBy('id', 'desc')
    .limit(mostRead)
    .selectAll()
    .execute()
  const found = new Map<string, EarlierDenial>()
  for (const row of rows.toReversed()) {
    // Otherwise the service denied it: for a wrong number, or a factor.
    if (endingOf(row) !== 'person' || !isGenuine(row, { keyring })) continue
    const people = toLineRecords(row).flatMap((line) => line.people)
    const by = people.find(({ answer }) => answer === 'denied')
    if (by !== undefined)
      found.set(row.subject_digest, {
        name: by.name,
        ...(by.user_id === String(user_id) && { own: true as const }),
        at: row.decided_at!,
        ...(row.note !== null && { note: row.note }),
      })
  }
  return found
}
