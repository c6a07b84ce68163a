import { usageError } from './errors.ts'

// Dialing prefixes have one to three digits; those of one and two are few enough to list.
const prefix = /^\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})(?=\d{5})/

/** `+1` of `+12025550101`; undefined where it is no number in E.164. */
export const dialingPrefix = (mobile: string): string | undefined => prefix.exec(mobile)?.[0]

type Numbers = { mobile?: unknown; country_code?: unknown; mobile_e164?: unknown }

/**
 * The whole number in a record or an input. Our service tells it apart from the national one; another service may answer
 * either in `mobile`. Undefined where there is none.
 */
export const wholeNumber = ({ mobile, country_code, mobile_e164 }: Numbers): string | undefined => {
  if (typeof mobile_e164 === 'string') return mobile_e164
  if (typeof mobile !== 'string') return undefined
  const number = mobile.replace(/[\s().-]/g, '')
  return typeof country_code !== 'string' || number.startsWith('+') ? number : `${country_code}${number}`
}

/** The two parts in which `/verify-user` takes a number. Fails with a usage error for what is not E.164. */
export const partsOf = (mobile: string): { country_code: string; mobile: string } => {
  const digits = mobile.replace(/[\s().-]/g, '')
  const country_code = dialingPrefix(digits)
  if (country_code === undefined || !/^\+\d{7,15}$/.test(digits))
    throw usageError(`"${mobile}" is not a valid phone number in E.164`, '--to +12025550101')
  return { country_code, mobile: digits.slice(country_code.length) }
}
