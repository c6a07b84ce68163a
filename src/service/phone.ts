// The `min` metadata judges by length alone. A stricter set would refuse numbers that were handed out after it was made.
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import metadata from 'libphonenumber-js/min/metadata'
import { invalid } from './refusal.ts'

export type Phone = {
  /** E.164. */
  mobile: string
  /** Dialing prefix with plus. */
  country_code: string
}

const example = 'a number such as 2025550101 with country_code +1'

const prefixes = new Set([
  ...Object.keys(metadata.country_calling_codes),
  ...Object.keys(metadata.nonGeographic),
])

/** The one spelling of a number. Refuses with 422 what no network could dial, under the name `field`. */
export const parsePhone = (mobile: string, countryCode?: string, field = 'mobile'): Phone => {
  const prefix = countryCode?.slice(1)
  if (prefix !== undefined && !prefixes.has(prefix))
    throw invalid('country_code', 'is no dialing prefix', 'give the prefix of the country, such as +1 or +49')
  if (prefix === undefined && !/^\s*[+＋]/.test(mobile))
    throw invalid(field, 'must start with + and the dialing prefix, such as +12025550101')

  const parsed = parsePhoneNumberFromString(mobile, { defaultCallingCode: prefix, extract: false })
  if (!parsed || !parsed.isPossible() || parsed.ext !== undefined)
    throw invalid(
      field,
      `is no phone number${prefix ? ` under country_code +${prefix}` : ''}`,
      `give ${example}`,
    )
  if (prefix !== undefined && parsed.countryCallingCode !== prefix)
    throw invalid(
      field,
      `starts with +${parsed.countryCallingCode}, and country_code is +${prefix}`,
      `give ${example}`,
    )
  return { mobile: parsed.number, country_code: `+${parsed.countryCallingCode}` }
}
