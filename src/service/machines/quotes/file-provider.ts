import * as z from 'zod/mini'
import { failure, SvcError } from '../../../core/errors.ts'
import type { Quote } from '../../call/service.ts'
import { openText } from '../../config/private-text.ts'
import { findQuote, foldName, parseExactly, type QuoteProvider, readPrice, readTime } from './quote.ts'

// `parseExactly` turns numbers into text.
const text = z.string().check(z.trim(), z.minLength(1), z.maxLength(120))
const schema = z.strictObject({
  as_of: text,
  quotes: z.array(
    z.strictObject({ symbol: text, name: text, price: text, exchange: text, as_of: z.optional(text) }),
  ),
})

const unusable = (path: string, why: string): SvcError =>
  failure(
    'quotes_file',
    `The quotes file ${path} cannot be used: ${why}`,
    'docs/iot.md shows one: {"as_of": "2030-01-31T21:00:00Z", "quotes": [{"symbol", "name", "price", "exchange"}]}',
  )

const parse = (path: string, json: string): z.infer<typeof schema> => {
  let found: unknown
  try {
    found = parseExactly(json.replace(/^\uFEFF/, ''))
  } catch {
    throw unusable(path, 'it is not JSON')
  }
  const checked = schema.safeParse(found)
  if (checked.success) return checked.data
  throw unusable(path, `${checked.error.issues[0]!.path.join('.') || 'it'} is missing or not valid`)
}

const readQuotes = (path: string): Quote[] => {
  const { as_of, quotes } = parse(path, openText(path, 'quotes.file').text)
  const symbols = new Set<string>()
  return quotes.map((row) => {
    const price = readPrice(row.price)
    const time = readTime(row.as_of ?? as_of)
    if (price === undefined) throw unusable(path, `the price of ${row.symbol} is not a price such as 1234.50`)
    if (time === undefined)
      throw unusable(path, `as_of of ${row.symbol} is not a time such as 2030-01-31T21:00:00Z`)
    if (symbols.has(foldName(row.symbol))) throw unusable(path, `${row.symbol} appears twice`)
    symbols.add(foldName(row.symbol))
    const { symbol, name, exchange } = row
    return { symbol, name, price, exchange, as_of: time }
  })
}

/** Reads quotes from a file, again each time, so that it can be replaced. Throws an SvcError if it is not valid now. */
export const createFileProvider = (path: string): QuoteProvider => {
  readQuotes(path)
  return { source: 'file', find: async (nameOrSymbol) => findQuote(readQuotes(path), nameOrSymbol) }
}
