// Dialing prefixes have one to three digits; this lists those of one and two.
const prefix = /^\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})(?=\d{5})/

/** `+1` of `+12025550101`; undefined if it is not a number in E.164. */
export const dialingPrefix = (mobile: string): string | undefined => prefix.exec(mobile)?.[0]

/** `••••••••0101`: enough for somebody who knows the number. */
export const hiddenNumber = (mobile: string): string => mobile.slice(-4).padStart(mobile.length, '•')

type Numbers = { mobile?: unknown; country_code?: unknown; mobile_e164?: unknown }

/**
 * The E.164 number of a record or an input. Our service has a field for it; a third-party service can put either form into
 * `mobile`. Undefined if there is none.
 */
export const wholeNumber = ({ mobile, country_code, mobile_e164 }: Numbers): string | undefined => {
  if (typeof mobile_e164 === 'string') return mobile_e164
  if (typeof mobile !== 'string') return undefined
  const number = mobile.replace(/[\s().-]/g, '')
  return typeof country_code !== 'string' || number.startsWith('+') ? number : `${country_code}${number}`
}

/** Digits without a trunk prefix; undefined for a masked number or one without a dialing prefix. */
const comparable = (number: string | undefined): string | undefined => {
  const digits = number?.replace(/[\s().-]/g, '') ?? ''
  if (!/^\+\d{5,15}$/.test(digits)) return undefined
  const prefix = dialingPrefix(digits) ?? ''
  return prefix + digits.slice(prefix.length).replace(/^0+/, '')
}

/** Whether two numbers are the same; undefined if one of them is not a whole number. */
export const samePhone = (a: string | undefined, b: string | undefined): boolean | undefined => {
  const [one, other] = [comparable(a), comparable(b)]
  return one === undefined || other === undefined ? undefined : one === other
}
