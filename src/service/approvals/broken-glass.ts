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
