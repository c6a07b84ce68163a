import { SvcError } from '../../core/errors.ts'
import type { Verdict } from '../../receipt/verify.ts'

/** A verdict in one line. It quotes the receipt, so it is not safe for a terminal as it is. */
export const sentence = ({ valid, claims, checks }: Verdict): string => {
  const failed = checks.filter(({ ok }) => !ok)
  if (!valid) return `Not valid: ${failed.map(({ name, detail }) => `${name} (${detail})`).join('; ')}`
  const { sub, status, action, iat } = claims!
  return `Valid: ${sub} ${status} "${action}" at ${new Date(iat * 1000).toISOString()}`
}

/** Fails with the checks that did not hold. */
export const requireValid = (verdict: Verdict): void => {
  if (verdict.valid) return
  throw new SvcError('failed', 'receipt_not_valid', 'The receipt is not valid, so nothing was done', {
    detail: sentence(verdict),
  })
}
