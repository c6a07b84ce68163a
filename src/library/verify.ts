import type { Expectations } from '../receipt/expectations.ts'
import type { ReceiptVerification } from '../receipt/verify.ts'

/**
 * Checks a receipt offline: the whole `attestation` of a request, its text, or the bare JWS. `jwks` is the key set of the
 * service. It is valid if every check passes. Never throws because of what the receipt contains.
 */
export const verifyReceipt = async (
  receipt: unknown,
  jwks: unknown,
  expected: Expectations,
  now: Date = new Date(),
): Promise<ReceiptVerification> => {
  const receipts = await import('../receipt/verify.ts')
  return receipts.verifyReceipt(receipt, jwks, expected, now)
}
