// The `min` metadata checks only lengths. A stricter set would refuse numbers that were assigned after its release.
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import metadata from 'libphonenumber-js/min/metadata'

export type Phone = {
  /** E.164. */
  mobile: string
  /** Dialing prefix with plus. */
  country_code: string
}

/** Why a text is not a phone number: which part is wrong, and what to use instead. */
export type NoPhone = { wrong: 'mobile' | 'country_code'; message: string; hint?: string }

const parse = (text: string, prefix?: string) =>
  parsePhoneNumberFromString(text, {
    ...(prefix !== undefined && { defaultCallingCode: prefix }),
    extract: false,
  })

const example = 'use a number such as 2025550101 with country_code +1'

const prefixes = new Set([
  ...Object.keys(metadata.country_calling_codes),
  ...Object.keys(metadata.nonGeographic),
])

/** The canonical form of a number, or why it cannot be dialed. */
export const readPhone = (mobile: string, countryCode?: string): Phone | NoPhone => {
  const prefix = countryCode?.slice(1)
  if (prefix !== undefined && !prefixes.has(prefix))
    return {
      wrong: 'country_code',
      message: 'is not a valid dialing prefix',
      hint: 'use the prefix of a country, such as +1 or +49',
    }
  if (prefix === undefined && !/^\s*[+＋]/.test(mobile))
    return { wrong: 'mobile', message: 'must start with + and the dialing prefix, such as +12025550101' }

  const parsed = parse(mobile, prefix)
  // A number that parses differently the second time, such as one with an extra leading 0, could belong to two people.
  const settled = parsed && parse(parsed.number)?.number === parsed.number
  if (!settled || !parsed.isPossible() || parsed.ext !== undefined)
    return {
      wrong: 'mobile',
      message: `is not a valid phone number${prefix ? ` under country_code +${prefix}` : ''}`,
      hint: example,
    }
  if (prefix !== undefined && parsed.countryCallingCode !== prefix)
    return {
      wrong: 'mobile',
      message: `starts with +${parsed.countryCallingCode}, but country_code is +${prefix}`,
      hint: example,
    }
  return { mobile: parsed.number, country_code: `+${parsed.countryCallingCode}` }
}

/**
 * The number without its prefix, if prefix and rest parse as the same number again. A few numbers start with the trunk
 * prefix of their country and would lose it; they are returned whole.
 */
export const nationalNumber = ({ mobile, country_code }: Phone): string => {
  const national = mobile.slice(country_code.length)
  const again = readPhone(national, country_code)
  return 'mobile' in again && again.mobile === mobile ? national : mobile
}
