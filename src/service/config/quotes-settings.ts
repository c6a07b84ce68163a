import type { Env } from '../../core/env.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import { badConfig, readSecret } from './private-text.ts'
import type { Config } from './schema.ts'

/** Where to ask, and where in the JSON of an answer each thing stands (JSON pointers: `/quote/price`). */
export type HttpTemplate = {
  /** `{symbol}` stands for the code. */
  url: string
  headers: Record<string, string>
  symbol?: string
  name: string
  price: string
  exchange: string
  /** The time of the answer when left out. */
  as_of?: string
}
type Section = NonNullable<Config['quotes']>

/** Where stock prices come from: a file, or a service that answers JSON. */
export type QuotesSettings = { file: string } | { http: HttpTemplate }

const urlHint = 'https://quotes.example.com/v1/{symbol}'

const filled = (template: string, symbol: string): URL | undefined => {
  const text = template.replaceAll('{symbol}', symbol).replaceAll('{secret}', 'x')
  return URL.canParse(text) ? new URL(text) : undefined
}

const checkUrl = (template: string): void => {
  const [one, other] = [filled(template, 'a'), filled(template, 'b')]
  if (!one || !other || !/^https?:$/.test(one.protocol))
    throw badConfig('quotes.url is not a valid URL', urlHint)
  const [path, otherPath] = [one, other].map(({ pathname, search }) => pathname + search)
  if (one.origin !== other.origin || path === otherPath)
    throw badConfig('quotes.url needs {symbol} in its path or query', urlHint)
  if (one.username || one.password)
    throw badConfig('quotes.url must not hold a name or a password', 'Put them into quotes.headers')
  if (one.protocol === 'http:' && !isLoopbackHost(one.hostname))
    throw badConfig('quotes.url must be https, except on this machine', urlHint)
}

// Not by `replaceAll`: what stands in for it may hold a `$`.
const withSecret = (text: string, value: string): string => text.split('{secret}').join(value)

const httpSettings = (section: Section, url: string, env: Env): HttpTemplate => {
  checkUrl(url)
  const { symbol, name, price, exchange, as_of } = section
  if (name === undefined || price === undefined || exchange === undefined)
    throw badConfig(
      'quotes lacks name, price or exchange',
      'Say where in an answer each stands: price: /quote/price',
    )
  const value = readSecret(section, 'quotes.secret', env)
  const usual: Record<string, string> =
    value === undefined || url.includes('{secret}') ? {} : { authorization: 'Bearer {secret}' }
  const headers = section.headers ?? usual
  const all = [url, ...Object.values(headers)]
  if (value === undefined && all.some((text) => text.includes('{secret}')))
    throw badConfig(
      'quotes holds {secret}, and there is none',
      'Give one with quotes.secret_file or quotes.secret_env',
    )
  if (value !== undefined && !/^[\x21-\x7e]+$/.test(value))
    throw badConfig('quotes.secret must be printable ASCII without spaces', 'Look at where it comes from')
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

/** Undefined where nothing is set: then it is the sample. Fails with an SvcError that names the field. */
export const quotesSettings = (section: Section | undefined, env: Env): QuotesSettings | undefined => {
  if (!section || Object.keys(section).length === 0) return undefined
  const { file, url, ...rest } = section
  if (file !== undefined && (url !== undefined || Object.keys(rest).length > 0))
    throw badConfig('quotes has a file and more', 'Keep quotes.file alone, or take it out')
  if (file !== undefined) return { file }
  if (url === undefined) throw badConfig('quotes lacks a file or a url', urlHint)
  return { http: httpSettings(section, url, env) }
}
