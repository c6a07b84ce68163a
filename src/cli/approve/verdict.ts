import { SvcError } from '../../core/errors.ts'
import type { Verdict } from '../../receipt/verify.ts'

/** A verdict in one line. It quotes the receipt, so it is not safe for a terminal as it is. */
export const sentence = ({ valid, claims, headline, checks }: Verdict): string => {
  const failed = checks.filter(({ ok }) => !ok)
  if (!valid) return `Not valid: ${failed.map(({ name, detail }) => `${name} (${detail})`).join('; ')}`
  const { sub, status, iat } = claims!
  return `Valid: ${sub} ${status} "${headline}" at ${new Date(iat * 1000).toISOString()}`
}

/** What to type, and what it gives up, where nothing else is wrong. */
const allowing: Record<string, string> = {
  development: 'To test without a phone: --allow-dev. Such a receipt does not prove that a person approved',
  separation:
    'To accept it: --allow-unseparated. Whoever has that key could have enrolled the device that approved',
  'authenticated requester':
    'To accept it: --allow-unauthenticated. Any program of that machine could have asked',
  'format 2': 'To accept it: --allow-format-1',
}

export const hintOf = ({ checks }: Verdict): string | undefined => {
  const [only, ...more] = checks.filter(({ ok }) => !ok)
  return only && more.length === 0 ? allowing[only.name] : undefined
}

/** Fails with the checks that did not hold. */
export const requireValid = (verdict: Verdict): void => {
  if (verdict.valid) return
  throw new SvcError('failed', 'receipt_not_valid', 'The receipt is not valid, so nothing was done', {
    detail: sentence(verdict),
  })
}
