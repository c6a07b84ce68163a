import type { Env } from '../../core/env.ts'
import { badConfig, parseProviderUrl, readSecret } from './private-text.ts'
import type { Config } from './schema.ts'

/** The request to the provider, and JSON pointers (`/quote/price`) to the values in its response. */
export type HttpTemplate = {
  /** `{symbol}` is replaced by the stock's code. */
  url: string
  headers: Record<string, string>
  symbol?: string
  name: string
  price: string
  exchange: string
  /** The time of the response if left out. */
  as_of?: string
}
type Section = NonNullable<Config['quotes']>

/** Stock prices come from a file or from a service that returns JSON. */
export type QuotesSettings = { file: string } | { http: HttpTemplate }

const exampleUrl = 'https://quotes.example.com/v1/{symbol}'

const checkUrl = (template: string): void => {
  const [one, other] = ['a', 'b'].map((symbol) => {
    const text = template.replaceAll('{symbol}', symbol).replaceAll('{secret}', 'x')
    return parseProviderUrl('quotes', text, exampleUrl)
  }) as [URL, URL]
  if (one.origin !== other.origin || one.pathname + one.search === other.pathname + other.search)
    throw badConfig('quotes.url must contain {symbol} in its path or query', exampleUrl)
}

// `replaceAll` would interpret a `$` in the secret.
const withSecret = (text: string, value: string): string => text.split('{secret}').join(value)

const httpSettings = (section: Section, url: string, env: Env): HttpTemplate => {
  checkUrl(url)
  const { symbol, name, price, exchange, as_of } = section
  if (name === undefined || price === undefined || exchange === undefined)
    throw badConfig(
      'quotes requires name, price and exchange',
      'Set each to its place in the response: price: /quote/price',
    )
  const value = readSecret(section, 'quotes.secret', env)
  const defaultHeaders: Record<string, string> =
    value === undefined || url.includes('{secret}') ? {} : { authorization: 'Bearer {secret}' }
  const headers = section.headers ?? defaultHeaders
  if (value === undefined && [url, ...Object.values(headers)].some((text) => text.includes('{secret}')))
    throw badConfig(
      'quotes uses {secret}, but no secret is set',
      'Set quotes.secret_file or quotes.secret_env',
    )
  if (value !== undefined && !/^[\x21-\x7e]+$/.test(value))
    throw badConfig(
      'quotes.secret must be printable ASCII without spaces',
      'Check the file or the variable that it comes from',
    )
  return {
    url: withSecret(url, encodeURIComponent(value ?? '')),
    headers: Object.fromEntries(
      Object.entries(headers).map(([header, text]) => [header, withSecret(text, value ?? '')]),
    ),
    ...(symbol !== undefined && { symbol }),
    name,
    price,
    exchange,
    ...(as_of !== undefined && { as_of }),
  }
}

/** Undefined if nothing is set; the service then uses sample prices. Throws an SvcError that names the field. */
export const quotesSettings = (section: Section | undefined, env: Env): QuotesSettings | undefined => {
  if (!section || Object.keys(section).length === 0) return undefined
  const { file, url, ...rest } = section
  if (file !== undefined && (url !== undefined || Object.keys(rest).length > 0))
    throw badConfig('quotes.file cannot be combined with other fields', 'Use only quotes.file, or remove it')
  if (file !== undefined) return { file }
  if (url === undefined) throw badConfig('quotes requires a file or a url', exampleUrl)
  return { http: httpSettings(section, url, env) }
}
