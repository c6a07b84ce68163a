import type { Quote, ToldQuote } from '../../call/service.ts'

/** Where quotes come from. Undefined for a stock that it does not know; fails when it cannot tell. */
export type QuoteProvider = {
  source: ToldQuote['source']
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
