import type { Quote } from '../../call/service.ts'
import { findQuote, type QuoteProvider } from './quote.ts'

// Rounded closing prices of one day, to try things out. They are not market data.
const as_of = '2024-12-31T21:00:00.000Z'
const rows: [symbol: string, name: string, price: string, exchange: string][] = [
  ['AAPL', 'Apple Inc.', '250.42', 'NASDAQ'],
  ['AMZN', 'Amazon.com, Inc.', '219.39', 'NASDAQ'],
  ['BRK.A', 'Berkshire Hathaway Inc.', '680920.00', 'NYSE'],
  ['GOOGL', 'Alphabet Inc.', '189.30', 'NASDAQ'],
  ['IBM', 'International Business Machines Corporation', '219.83', 'NYSE'],
  ['JPM', 'JPMorgan Chase & Co.', '239.71', 'NYSE'],
  ['META', 'Meta Platforms, Inc.', '585.51', 'NASDAQ'],
  ['MSFT', 'Microsoft Corporation', '421.50', 'NASDAQ'],
  ['NVDA', 'NVIDIA Corporation', '134.29', 'NASDAQ'],
  ['TSLA', 'Tesla, Inc.', '403.84', 'NASDAQ'],
]
const quotes = rows.map(([symbol, name, price, exchange]): Quote => ({
  symbol,
  name,
  price,
  exchange,
  as_of,
}))

/** A few stocks of one past day, for a service without a provider. */
export const sampleProvider: QuoteProvider = {
  source: 'sample',
  find: async (nameOrSymbol) => findQuote(quotes, nameOrSymbol),
}
