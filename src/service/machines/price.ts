const decimal = /^(\d{1,60})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/

const hundredths = ([, whole = '', fraction = '', exponent = '0']: RegExpExecArray): bigint => {
  const digits = BigInt(whole + fraction)
  const places = fraction.length - Number(exponent)
  if (places <= 2) return digits * 10n ** BigInt(2 - places)
  return (digits + 5n * 10n ** BigInt(places - 3)) / 10n ** BigInt(places - 2)
}

/**
 * A decimal, as a person or JSON writes it, as the one spelling of a price: `1,234.5` and `1.2345e3` are `1234.50`. Exact;
 * more than two decimals are rounded half up. Undefined for what is no price.
 */
export const readPrice = (text: string): string | undefined => {
  const read = decimal.exec(text.replaceAll(',', ''))
  if (!read) return undefined
  const cents = hundredths(read)
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
}

/** `1234.50` as `1,234.50`. */
export const showPrice = (price: string): string => {
  const [whole, cents] = price.split('.')
  return `${BigInt(whole!).toLocaleString('en-US')}.${cents}`
}
