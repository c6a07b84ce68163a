import { namesOf } from '../devices/notices.ts'
import type { Db } from '../storage/schema.ts'
import { ownerOf } from './key-owner.ts'
import type { ApprovalRow } from './rows.ts'

/** As the row of a request stores it. People are user ids, in rising order. */
export type BreakGlass = {
  reason: string
  skipped: number[]
  told: number[]
  review?: { by: number; verdict: 'ok' | 'disputed'; at: string; note?: string }
}

export const readBreakGlass = ({ break_glass }: Pick<ApprovalRow, 'break_glass'>): BreakGlass | undefined =>
  break_glass === null ? undefined : (JSON.parse(break_glass) as BreakGlass)

/** Who broke the glass: the owner of the requesting key. */
export const brokenBy = (row: Pick<ApprovalRow, 'key_owner'>): number =>
  Number(ownerOf(row, 'owner').owner?.user_id)

/** Whether a person was told of an emergency, and so can read it. */
export const wasTold = (row: Pick<ApprovalRow, 'break_glass'>, person: number | undefined): boolean =>
  person !== undefined && (readBreakGlass(row)?.told.includes(person) ?? false)

/** Whom a request skips and who was told, by name, as a page shows it; no field of any other request. */
export const emergencyFor = async (db: Db, row: ApprovalRow) => {
  const broken = readBreakGlass(row)
  if (!broken) return {}
  const { reason, skipped, told, review } = broken
  const names = (ids: readonly number[]): Promise<string[]> => namesOf(db, row.org_id, ids)
  return {
    break_glass: {
      reason,
      skipped: await names(skipped),
      told: await names(told),
      ...(review && { review: { ...review, by: (await names([review.by])).join('') } }),
    },
  }
}
