import { timeText } from './time-text.ts'
import type { ReceiptVerification } from './verify.ts'

/** The result in one line. It quotes the receipt, so it must be escaped for a terminal. */
export const sentence = ({ valid, claims, headline, checks }: ReceiptVerification): string => {
  const failed = checks.filter(({ ok }) => !ok)
  if (!valid) return `Not valid: ${failed.map(({ name, detail }) => `${name} (${detail})`).join('; ')}`
  const { sub, status, iat, dev } = claims!
  const done = `${status} "${headline}"`
  return `Valid: ${dev ? `a software key ${done} for ${sub}` : `${sub} ${done}`} at ${timeText(iat)}`
}
