import type { Config } from './schema.ts'

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs

/** How long what is kept, in milliseconds. */
export type Periods = {
  /** Texts, numbers, places and the receipt of an approval, after its end. */
  approvalsMs: number
  verificationsMs: number
  /** Answers for repeats. */
  idempotencyMs: number
}

export const periodsOf = ({
  approvals_days = 365,
  verifications_days = 90,
  idempotency_hours = 24,
}: NonNullable<Config['retention']> = {}): Periods => ({
  approvalsMs: approvals_days * dayMs,
  verificationsMs: verifications_days * dayMs,
  idempotencyMs: idempotency_hours * hourMs,
})
