/** The price of a stock at one time. */
export type Quote = {
  symbol: string
  name: string
  /** As `readPrice` writes it: no separators, two decimals. */
  price: string
  exchange: string
  /** ISO 8601 in UTC. */
  as_of: string
}

/** Where quotes come from. Undefined for a stock that it does not know; fails when it cannot tell. */
export type QuoteProvider = {
  source: 'sample' | 'file' | 'http'
  find(nameOrSymbol: string): Promise<Quote | undefined>
}

/** Two names, or two codes, that differ only in case are the same. */
export const foldName = (text: string): string => text.normalize('NFC').toLowerCase()

/** The quote of a code, or else of a name. */
export const findQuote = (quotes: readonly Quote[], nameOrSymbol: string): Quote | undefined => {
  const wanted = foldName(nameOrSymbol)
  return (
    quotes.find(({ symbol }) => foldName(symbol) === wanted) ??
    quotes.find(({ name }) => foldName(name) === wanted)
  )
}
