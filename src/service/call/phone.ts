import { readPhone, type Phone } from '../../rules/phone.ts'
import { invalid } from '../../core/refusal.ts'

export type { Phone }

/** The one spelling of a number. Refuses with 422 what no network could dial, under the name `field`. */
export const parsePhone = (mobile: string, countryCode?: string, field = 'mobile'): Phone => {
  const read = readPhone(mobile, countryCode)
  if (!('wrong' in read)) return read
  throw invalid(read.wrong === 'mobile' ? field : read.wrong, read.message, read.hint)
}
