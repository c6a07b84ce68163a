import { expect } from 'vitest'
import type { Expectations } from '../../src/receipt/expectations.ts'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import { now, ours, type Issuer } from './specimen.ts'

/** The names of the failed checks. None means valid. */
export const failedChecks =
  (issuer: Issuer) =>
  async (value: unknown, wanted: Expectations = {}, at: Date = now): Promise<string[]> => {
    const { valid, checks } = await verifyReceipt(value, issuer.jwks, { ...ours, ...wanted }, at)
    const names = checks.filter(({ ok }) => !ok).map(({ name }) => name)
    expect(valid).toBe(names.length === 0)
    return names
  }
