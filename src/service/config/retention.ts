import type { Config } from './schema.ts'

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs

/** How long the service keeps data, in milliseconds. */
export type Periods = {
  /** Texts, numbers, locations and the receipt of an approval, from its end. */
  approvalsMs: number
  verificationsMs: number
  /** Responses for repeated requests. */
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
