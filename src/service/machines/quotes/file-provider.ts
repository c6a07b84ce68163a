import * as z from 'zod/mini'
import { failure, SvcError } from '../../../core/errors.ts'
import type { Quote } from '../../call/service.ts'
import { openText } from '../../config/private-text.ts'
import { findQuote, foldName, parseExactly, type QuoteProvider, quoteRow, toQuote } from './quote.ts'

const schema = z.object({ as_of: z.string(), quotes: z.array(quoteRow) })

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
    const folded = foldName(row.symbol)
    if (symbols.has(folded)) throw unusable(path, `${row.symbol} appears twice`)
    symbols.add(folded)
    try {
      return toQuote(row, as_of)
    } catch (error) {
      throw unusable(path, `${row.symbol}: ${(error as Error).message}`)
    }
  })
}

/** Reads quotes from a file, again each time, so that it can be replaced. Throws an SvcError if it is not valid now. */
export const createFileProvider = (path: string): QuoteProvider => {
  readQuotes(path)
  return { source: 'file', find: async (nameOrSymbol) => findQuote(readQuotes(path), nameOrSymbol) }
}
