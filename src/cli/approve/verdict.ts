import { SvcError } from '../../core/errors.ts'
import type { Verdict } from '../../receipt/verify.ts'

/** A verdict in one line. It quotes the receipt, so it is not safe for a terminal as it is. */
export const sentence = ({ valid, claims, checks }: Verdict): string => {
  const failed = checks.filter(({ ok }) => !ok)
  if (!valid) return `Not valid: ${failed.map(({ name, detail }) => `${name} (${detail})`).join('; ')}`
  const { sub, status, action, iat } = claims!
  return `Valid: ${sub} ${status} "${action}" at ${new Date(iat * 1000).toISOString()}`
}

/** What to type where nothing is wrong but that a software key signed. */
export const hintOf = ({ checks }: Verdict): string | undefined => {
  const failed = checks.filter(({ ok }) => !ok)
  return failed.length === 1 && failed[0]!.name === 'development'
    ? 'To test without a phone: --allow-dev. Such a receipt does not prove that a person approved'
    : undefined
}

/** Fails with the checks that did not hold. */
export const requireValid = (verdict: Verdict): void => {
  if (verdict.valid) return
  throw new SvcError('failed', 'receipt_not_valid', 'The receipt is not valid, so nothing was done', {
    detail: sentence(verdict),
  })
}
