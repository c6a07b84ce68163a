import type { Log } from '../../../core/log.ts'
import { createRecent } from '../../../core/recent.ts'
import { conflict } from '../../../core/refusal.ts'
import type { Quotes, QuoteResult, Quote } from '../../call/service.ts'
import type { QuotesSettings } from '../../config/quotes-settings.ts'
import { createHttpProvider } from './http-provider.ts'
import { foldName, type QuoteProvider } from './quote.ts'

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
  find: async (nameOrSymbol) =>
    quotes.find((quote) => [quote.symbol, quote.name].map(foldName).includes(foldName(nameOrSymbol))),
}

const freshMs = 60_000
/** How long a provider that failed gets no request: one that hangs delays each answer by seconds. */
const pauseMs = 10_000
/** Limits the memory that a caller can fill. */
const cacheSize = 1000

/** The reason of a failure, without the URL, which can contain a secret. */
const reasonOf = (error: unknown): string => {
  const { name, message, cause } = error as Error & { cause?: { code?: unknown } }
  if (name === 'TimeoutError') return 'no answer in time'
  return cause?.code === undefined ? message : String(cause.code)
}

/** Caches quotes for a minute, and longer while the provider fails. Sends one request at a time for each stock. */
export const createQuotes = (provider: QuoteProvider, { now, log }: { now(): string; log: Log }): Quotes => {
  const cached = createRecent<string, { quote: QuoteResult; until: number }>(cacheSize)
  const pending = new Map<string, Promise<QuoteResult | undefined>>()
  const { source } = provider

  const cache = (name: string, quote: QuoteResult, ms: number): QuoteResult => {
    cached.set(provider, name, { quote, until: Date.parse(now()) + ms })
    return quote
  }

  const request = async (name: string, nameOrSymbol: string): Promise<QuoteResult | undefined> => {
    try {
      const quote = await provider.find(nameOrSymbol)
      if (quote) return cache(name, { ...quote, stale: provider === sampleProvider, source }, freshMs)
      cached.delete(provider, name)
      return undefined
    } catch (error) {
      log({ at: now(), level: 'warn', message: 'The quote provider failed', error: reasonOf(error) })
      const last = cached.get(provider, name)
      if (!last)
        throw conflict(
          'quotes_unavailable',
          'The quote provider failed, and no earlier price is known',
          'Try again in a minute; the log of svc serve shows the reason',
        )
      return cache(name, { ...last.quote, stale: true }, pauseMs)
    } finally {
      pending.delete(name)
    }
  }

  return {
    find: async (nameOrSymbol) => {
      const name = foldName(nameOrSymbol)
      const known = cached.get(provider, name)
      const left = known ? known.until - Date.parse(now()) : 0
      // More than a minute is left only if the clock was set back.
      if (known && left > 0 && left <= freshMs) return known.quote
      const requested = pending.get(name) ?? request(name, nameOrSymbol)
      pending.set(name, requested)
      return requested
    },
  }
}

/** The configured provider; by default the sample. */
export const openProvider = (settings: QuotesSettings | undefined, now: () => string): QuoteProvider =>
  settings ? createHttpProvider(settings, now) : sampleProvider
