// The `min` metadata judges by length alone. A stricter set would refuse numbers that were handed out after it was made.
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import metadata from 'libphonenumber-js/min/metadata'

export type Phone = {
  /** E.164. */
  mobile: string
  /** Dialing prefix with plus. */
  country_code: string
}

/** Why a text is no number: which of the two parts is wrong, and what to give instead. */
export type NoPhone = { wrong: 'mobile' | 'country_code'; message: string; hint?: string }

const parse = (text: string, prefix?: string) =>
  parsePhoneNumberFromString(text, {
    ...(prefix !== undefined && { defaultCallingCode: prefix }),
    extract: false,
  })

const example = 'give a number such as 2025550101 with country_code +1'

const prefixes = new Set([
  ...Object.keys(metadata.country_calling_codes),
  ...Object.keys(metadata.nonGeographic),
])

/** The one spelling of a number, or why no network could dial it. */
export const readPhone = (mobile: string, countryCode?: string): Phone | NoPhone => {
  const prefix = countryCode?.slice(1)
  if (prefix !== undefined && !prefixes.has(prefix))
    return {
      wrong: 'country_code',
      message: 'is no dialing prefix',
      hint: 'give the prefix of the country, such as +1 or +49',
    }
  if (prefix === undefined && !/^\s*[+＋]/.test(mobile))
    return { wrong: 'mobile', message: 'must start with + and the dialing prefix, such as +12025550101' }

  const parsed = parse(mobile, prefix)
  // A spelling that is read as another one would make two people of one number: a second 0 in front, say.
  const settled = parsed && parse(parsed.number)?.number === parsed.number
  if (!settled || !parsed.isPossible() || parsed.ext !== undefined)
    return {
      wrong: 'mobile',
      message: `is no phone number${prefix ? ` under country_code +${prefix}` : ''}`,
      hint: example,
    }
  if (prefix !== undefined && parsed.countryCallingCode !== prefix)
    return {
      wrong: 'mobile',
      message: `starts with +${parsed.countryCallingCode}, and country_code is +${prefix}`,
      hint: example,
    }
  return { mobile: parsed.number, country_code: `+${parsed.countryCallingCode}` }
}

/**
 * The number without its prefix, so that both together are read as the same number again. A few numbers start with digits
 * that their country dials first and would lose them: they stay whole.
 */
export const nationalNumber = ({ mobile, country_code }: Phone): string => {
  const national = mobile.slice(country_code.length)
  const again = readPhone(national, country_code)
  return 'mobile' in again && again.mobile === mobile ? national : mobile
}
