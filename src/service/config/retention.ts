import * as z from 'zod/mini'

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs

const whole = (most: number) =>
  z.int('must be a whole number').check(z.gte(1, 'must be 1 or more'), z.lte(most, `must be ${most} or less`))

/** The section of the configuration file. */
export const retentionSection = z.strictObject({
  approvals_days: z.optional(whole(36_500)),
  verifications_days: z.optional(whole(36_500)),
  idempotency_hours: z.optional(whole(720)),
})

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
}: z.infer<typeof retentionSection> = {}): Periods => ({
  approvalsMs: approvals_days * dayMs,
  verificationsMs: verifications_days * dayMs,
  idempotencyMs: idempotency_hours * hourMs,
})
