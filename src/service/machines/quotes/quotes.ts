import type { Log } from '../../../core/log.ts'
import { Refusal } from '../../../core/refusal.ts'
import type { Quotes, ToldQuote } from '../../call/service.ts'
import type { QuotesSettings } from '../../config/quotes-settings.ts'
import { createFileProvider } from './file-provider.ts'
import { createHttpProvider } from './http-provider.ts'
import { foldName, type QuoteProvider } from './quote.ts'
import { sampleProvider } from './sample.ts'

const freshMs = 60_000
/** So long a provider that failed is left alone: each question to one that hangs takes seconds. */
const restMs = 10_000
/** Anybody with a key can ask for many. */
const mostKept = 1000

const unavailable = (): Refusal =>
  new Refusal(409, 'quotes_unavailable', 'The quote provider failed, and no earlier price is known', {
    hint: 'Try again in a minute; the log of svc serve shows the reason',
  })

/** What is wrong, without the address: a secret may stand in it. */
const whyOf = (error: unknown): string => {
  const { name, message, cause } = error as Error & { cause?: { code?: unknown } }
  if (name === 'TimeoutError') return 'no answer in time'
  return cause?.code === undefined ? message : String(cause.code)
}

type Kept = { told: ToldQuote; until: number }
type Options = { now(): string; log: Log }

/** What a provider says, for a minute; while it fails, the last that it said. One question at a time for each stock. */
export const createQuotes = (provider: QuoteProvider, { now, log }: Options): Quotes => {
  const kept = new Map<string, Kept>()
  const asking = new Map<string, Promise<ToldQuote | undefined>>()
  const { source } = provider

  const keep = (name: string, told: ToldQuote, ms: number): ToldQuote => {
    kept.delete(name)
    kept.set(name, { told, until: Date.parse(now()) + ms })
    if (kept.size > mostKept) kept.delete(kept.keys().next().value!)
    return told
  }

  const ask = async (name: string, nameOrSymbol: string): Promise<ToldQuote | undefined> => {
    try {
      const quote = await provider.find(nameOrSymbol)
      if (quote) return keep(name, { ...quote, stale: false, source }, freshMs)
      kept.delete(name)
      return undefined
    } catch (error) {
      log({ at: now(), level: 'warn', message: 'The quote provider failed', error: whyOf(error) })
      const last = kept.get(name)
      if (!last) throw unavailable()
      return keep(name, { ...last.told, stale: true }, restMs)
    } finally {
      asking.delete(name)
    }
  }

  return {
    find: async (nameOrSymbol) => {
      const name = foldName(nameOrSymbol)
      const known = kept.get(name)
      const left = known ? known.until - Date.parse(now()) : 0
      // More is left than there ever was when the clock was set back.
      if (known && left > 0 && left <= freshMs) return known.told
      const asked = asking.get(name) ?? ask(name, nameOrSymbol)
      asking.set(name, asked)
      return asked
    },
  }
}

/** Where quotes come from; the sample where nothing is set. Fails with an SvcError on a file that is no good. */
export const openProvider = (settings: QuotesSettings | undefined, now: () => string): QuoteProvider => {
  if (!settings) return sampleProvider
  return 'file' in settings ? createFileProvider(settings.file) : createHttpProvider(settings.http, now)
}
