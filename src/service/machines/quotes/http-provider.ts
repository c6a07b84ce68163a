import type { Quote } from '../../call/service.ts'
import { atPointer } from '../../config/json-pointer.ts'
import type { HttpTemplate } from '../../config/quotes-settings.ts'
import { parseExactly, type QuoteProvider, readPrice, readTime } from './quote.ts'

const timeoutMs = 3000
const mostBytes = 1024 * 1024
/** What an address would take for a folder. */
const onlyDots = /^\.+$/

/** The text of an answer; undefined for 404. No redirect is followed: the headers may hold a secret. */
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
    // The words of the parser show a piece of the answer.
    throw new Error('its answer is not JSON')
  }
}

/** The text at a JSON pointer; numbers were made texts, so that none is rounded. */
const textAt = (json: unknown, pointer: string): string | undefined => {
  const value = atPointer(json, pointer)
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : undefined
}

/** Quotes of a service that answers JSON, asked for one at a time. Whether it knows names as well as codes is its matter. */
export const createHttpProvider = (template: HttpTemplate, now: () => string): QuoteProvider => ({
  source: 'http',
  find: async (nameOrSymbol): Promise<Quote | undefined> => {
    if (onlyDots.test(nameOrSymbol)) return undefined
    const asked = nameOrSymbol.toUpperCase()
    const url = template.url.replaceAll('{symbol}', encodeURIComponent(asked))
    const text = await fetchText(url, { accept: 'application/json', ...template.headers })
    if (text === undefined) return undefined
    const json = parse(text)
    const must = (field: 'name' | 'price' | 'exchange' | 'as_of'): string => {
      const found = textAt(json, template[field]!)
      if (found === undefined) throw new Error(`there is no ${field} at ${template[field]}`)
      return found
    }
    const price = readPrice(must('price'))
    if (price === undefined) throw new Error('its price is not valid')
    const as_of = template.as_of === undefined ? now() : readTime(must('as_of'))
    if (as_of === undefined) throw new Error('its as_of is not a time')
    const symbol = (template.symbol && textAt(json, template.symbol)) ?? asked
    return { symbol, name: must('name'), price, exchange: must('exchange'), as_of }
  },
})
