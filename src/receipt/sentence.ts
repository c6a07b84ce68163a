import { lineName } from './lines.ts'
import type { Check } from './signature.ts'
import { summaryOf } from './subject-text.ts'
import { readSubject } from './subject.ts'
import { timeText } from './time-text.ts'
import type { ReceiptVerification } from './verify.ts'

/** The name of a check, with the part of a set that was checked. */
export const nameOf = ({ part, name }: Check): string => (part === undefined ? name : `${part}: ${name}`)

/** The result in one line. It quotes the receipt, so it must be escaped for a terminal. */
export const sentence = (verdict: ReceiptVerification): string => {
  const { valid, receipts, completion, headline, checks, breakGlass, use } = verdict
  const failed = checks.filter(({ ok }) => !ok)
  if (!valid) return `Not valid: ${failed.map((one) => `${nameOf(one)} (${one.detail})`).join('; ')}`
  const { status, iat, subject } = receipts[0]!
  const done = `${status} "${headline}"`
  const numbers = receipts.map(({ sub }) => sub).join(', ')
  const how = breakGlass ? 'Valid, by break-glass' : 'Valid'
  const isProgram = receipts.some(({ dev }) => dev)
  if (use) {
    const by = isProgram ? `a software key for ${numbers}` : numbers
    const count = checks.find(({ name }) => name === 'use')!.detail
    const granted = summaryOf(readSubject(subject))
    return `${how}, under a grant: "${headline}" at ${timeText(use.iat)} is use ${count}; ${by} granted "${granted}" at ${timeText(iat)}`
  }
  if (completion) {
    const count = receipts.length === 1 ? '1 person' : `${receipts.length} people`
    const who = `${count} (${completion.lines.map(lineName).join(', ')})`
    const by = isProgram ? `software keys ${done} for ${who}` : `${who} ${done}`
    return `${how}: ${by} at ${timeText(completion.iat)}: ${numbers}`
  }
  return `${how}: ${isProgram ? `a software key ${done} for ${numbers}` : `${numbers} ${done}`} at ${timeText(iat)}`
}
