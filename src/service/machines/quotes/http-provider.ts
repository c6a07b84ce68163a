import type { QuotesSettings } from '../../config/quotes-settings.ts'
import { parseExactly, quoteRow, type QuoteProvider, toQuote } from './quote.ts'

const timeoutMs = 3000
const mostBytes = 1024 * 1024
/** A URL would take these for a folder. */
const onlyDots = /^\.+$/

/** The text of an answer; undefined for 404. Follows no redirect, because the header can contain a secret. */
const fetchText = async (url: string, headers: Record<string, string>): Promise<string | undefined> => {
  const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
  if (!response.ok) {
    await response.body?.cancel()
    if (response.status === 404) return undefined
    throw new Error(`it returned status ${response.status}`)
  }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new Error(`its answer is longer than ${mostBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

const parse = (text: string): unknown => {
  try {
    return parseExactly(text)
  } catch {
    // The error of the parser quotes the answer.
    throw new Error('its answer is not JSON')
  }
}

/** Requests quotes from a service, one at a time. The service decides whether it knows names or codes. */
export const createHttpProvider = ({ url, secret }: QuotesSettings, now: () => string): QuoteProvider => ({
  source: 'http',
  find: async (nameOrSymbol) => {
    if (onlyDots.test(nameOrSymbol)) return undefined
    const wanted = encodeURIComponent(nameOrSymbol.toUpperCase())
    const authorization = secret !== undefined && { authorization: `Bearer ${secret}` }
    const text = await fetchText(
      url.replaceAll('{symbol}', () => wanted),
      {
        accept: 'application/json',
        ...authorization,
      },
    )
    if (text === undefined) return undefined
    const checked = quoteRow.safeParse(parse(text))
    if (checked.success) return toQuote(checked.data, now())
    throw new Error(`its ${checked.error.issues[0]!.path.join('.') || 'answer'} is missing or not valid`)
  },
})
