import { Refusal } from '../../core/refusal.ts'
import { spoken } from './rate-limit.ts'

// No limit looks further back than a day; what lies further ahead is of a clock that was wrong.
const mostSeconds = 86_400

/** 429 with `Retry-After`; `hint` gets the time until `until`, in words. */
export const tooSoon = (
  code: string,
  message: string,
  hint: (wait: string) => string,
  { now }: { now: string },
  until: string,
  data?: Record<string, unknown>,
): Refusal => {
  const left = Math.ceil((Date.parse(until) - Date.parse(now)) / 1000)
  const seconds = Math.min(Math.max(left, 1), mostSeconds)
  return new Refusal(429, code, message, {
    hint: hint(spoken(seconds)),
    headers: { 'retry-after': String(seconds) },
    data,
  })
}
