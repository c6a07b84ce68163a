import { dayMs, hourMs } from '../../core/iso-time.ts'
import type { Config } from './schema.ts'

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
