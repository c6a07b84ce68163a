import * as z from 'zod/mini'
import type { Quote, QuoteResult } from '../../call/service.ts'

// Matches strings too, so that digits inside of a string are not taken for a number.
const token = /"(?:[^"\\]|\\[^])*"?|-?\d[\d.eE+-]*/g

/** Parses JSON with each number as its text, because a float would lose digits. Throws a SyntaxError. */
export const parseExactly = (json: string): unknown => {
  // Throws for invalid JSON before any number is quoted.
  JSON.parse(json)
  return JSON.parse(json.replace(token, (found) => (found.startsWith('"') ? found : `"${found}"`)))
}

const iso = /^\d{4}-\d\d-\d\d(?:$|[T ])/

/** Reads a time as ISO 8601. Undefined for anything else. */
export const readTime = (text: string): string | undefined => {
  const ms = iso.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** Finds quotes. Undefined for a stock that the provider does not know; throws if the provider fails. */
export type QuoteProvider = {
  source: QuoteResult['source']
  find(nameOrSymbol: string): Promise<Quote | undefined>
}

/** Names and codes that differ only in case are the same. */
export const foldName = (text: string): string => text.normalize('NFC').toLowerCase()

const decimal = /^(\d{1,60})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/

const hundredths = ([, whole = '', fraction = '', exponent = '0']: RegExpExecArray): bigint => {
  const digits = BigInt(whole + fraction)
  const places = fraction.length - Number(exponent)
  if (places <= 2) return digits * 10n ** BigInt(2 - places)
  return (digits + 5n * 10n ** BigInt(places - 3)) / 10n ** BigInt(places - 2)
}

/**
 * The canonical text of a price: `1,234.5` and `1.2345e3` are `1234.50`. Exact; more than two decimals are rounded half up.
 * Undefined for text that is not a price.
 */
export const readPrice = (text: string): string | undefined => {
  const read = decimal.exec(text.replaceAll(',', ''))
  if (!read) return undefined
  const cents = hundredths(read)
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
}

const text = z.string().check(z.trim(), z.minLength(1), z.maxLength(120))

/** A quote as a service writes it. `parseExactly` has turned its numbers into text. */
export const quoteRow = z.object({
  symbol: text,
  name: text,
  price: text,
  exchange: text,
  as_of: z.optional(text),
})

/** `time` is that of the quote if its row has none. Throws an Error that quotes no value. */
export const toQuote = (row: z.infer<typeof quoteRow>, time: string): Quote => {
  const { symbol, name, exchange } = row
  const [price, as_of] = [readPrice(row.price), readTime(row.as_of ?? time)]
  if (price === undefined) throw new Error('its price is not a price such as 1234.50')
  if (as_of === undefined) throw new Error('its as_of is not a time such as 2030-01-31T21:00:00Z')
  return { symbol, name, price, exchange, as_of }
}

/** `1234.50` as `1,234.50`. */
export const showPrice = (price: string): string => {
  const [whole, cents] = price.split('.')
  return `${BigInt(whole!).toLocaleString('en-US')}.${cents}`
}
