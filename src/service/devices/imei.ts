import { invalid } from '../../core/refusal.ts'

export type Imei = {
  /** Digits only. */
  imei: string
  kind: 'imei' | 'imeisv'
  /** The type allocation code, which identifies the model. */
  tac: string
  /** The first 14 digits, which the IMEI and the IMEISV of a phone share. */
  phone: string
}

/** The Luhn check digit of the first 14 digits. */
const checkDigit = (digits: string): number => {
  const sum = [...digits].reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return (10 - (sum % 10)) % 10
}

/** Reads an IMEI or IMEISV. Fails with 422 for `field`. */
export const parseImei = (text: string, field = 'imei'): Imei => {
  const imei = text.replace(/[\s/-]/g, '')
  const read = { imei, tac: imei.slice(0, 8), phone: imei.slice(0, 14) }
  if (!/^[0-9]+$/.test(imei))
    throw invalid(
      field,
      'must contain only the digits 0 to 9; spaces, hyphens and slashes are allowed between them',
    )
  if (/^0+$/.test(imei)) throw invalid(field, 'must not be all zeros')
  if (imei.length === 16) return { ...read, kind: 'imeisv' }
  if (imei.length !== 15)
    throw invalid(field, `has ${imei.length} digits; an IMEI has 15, an IMEISV 16`, 'Dial *#06# on the phone')
  if (checkDigit(read.phone) !== Number(imei[14]))
    throw invalid(
      field,
      'has a wrong check digit: at least one of its digits is mistyped',
      'Dial *#06# on the phone, and copy all 15 digits',
    )
  return { ...read, kind: 'imei' }
}

/** Whether both belong to one phone; one can be an IMEI and the other an IMEISV. */
export const samePhone = (one: string, other: string): boolean =>
  parseImei(one).phone === parseImei(other).phone
