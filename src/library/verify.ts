import type { Expectations } from '../receipt/expectations.ts'
import type { ReceiptVerification } from '../receipt/verify.ts'
import { requireExpectations } from './known-fields.ts'

/**
 * Checks a receipt offline: the whole `attestation` of a request, its text, or the bare JWS. `jwks` is the key set of the
 * service. It is valid if every check passes. Never throws because of what the receipt contains. Throws an
 * `SvcError` for an expectation that does not exist.
 */
export const verifyReceipt = async (
  receipt: unknown,
  jwks: unknown,
  expected: Expectations,
  now: Date = new Date(),
): Promise<ReceiptVerification> => {
  requireExpectations(expected)
  const receipts = await import('../receipt/verify.ts')
  return receipts.verifyReceipt(receipt, jwks, expected, now)
}
