import type { Quote } from '../../call/service.ts'
import { atPointer } from '../../config/json-pointer.ts'
import type { HttpTemplate } from '../../config/quotes-settings.ts'
import { parseExactly, type QuoteProvider, readPrice, readTime } from './quote.ts'

const timeoutMs = 3000
const mostBytes = 1024 * 1024
/** A URL would take these for a folder. */
const onlyDots = /^\.+$/

/** The text of an answer; undefined for 404. Follows no redirect, because the headers can contain a secret. */
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

/** The text at a JSON pointer. Numbers are text here, so that none is rounded. */
const textAt = (json: unknown, pointer: string): string | undefined => {
  const value = atPointer(json, pointer)
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : undefined
}

/** Requests quotes from a service with a JSON API, one at a time. The service decides whether it knows names or codes. */
export const createHttpProvider = (template: HttpTemplate, now: () => string): QuoteProvider => ({
  source: 'http',
  find: async (nameOrSymbol): Promise<Quote | undefined> => {
    if (onlyDots.test(nameOrSymbol)) return undefined
    const wanted = nameOrSymbol.toUpperCase()
    const url = template.url.replaceAll('{symbol}', encodeURIComponent(wanted))
    const text = await fetchText(url, { accept: 'application/json', ...template.headers })
    if (text === undefined) return undefined
    const json = parse(text)
    const required = (field: 'name' | 'price' | 'exchange' | 'as_of'): string => {
      const found = textAt(json, template[field]!)
      if (found === undefined) throw new Error(`there is no ${field} at ${template[field]}`)
      return found
    }
    const price = readPrice(required('price'))
    if (price === undefined) throw new Error('its price is not valid')
    const as_of = template.as_of === undefined ? now() : readTime(required('as_of'))
    if (as_of === undefined) throw new Error('its as_of is not a time')
    const symbol = (template.symbol && textAt(json, template.symbol)) ?? wanted
    return { symbol, name: required('name'), price, exchange: required('exchange'), as_of }
  },
})
