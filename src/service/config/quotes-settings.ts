import { badConfig, parseProviderUrl, readSecret } from './private-text.ts'
import type { Config } from './schema.ts'

/** Stock prices come from a service: `{symbol}` in the URL is replaced by the stock's code. */
export type QuotesSettings = { url: string; secret?: string | undefined }

const exampleUrl = 'https://quotes.example.com/v1/{symbol}'

const checkUrl = (template: string): void => {
  const [one, other] = ['a', 'b'].map((symbol) =>
    parseProviderUrl('quotes', template.replaceAll('{symbol}', symbol), exampleUrl),
  ) as [URL, URL]
  if (one.origin !== other.origin || one.pathname + one.search === other.pathname + other.search)
    throw badConfig('quotes.url must contain {symbol} in its path or query', exampleUrl)
}

/** Undefined if nothing is set; the service then uses sample prices. Throws an SvcError that names the field. */
export const quotesSettings = (section: Config['quotes']): QuotesSettings | undefined => {
  if (!section || Object.keys(section).length === 0) return undefined
  const { url, secret_file } = section
  if (url === undefined) throw badConfig('quotes.url is missing', exampleUrl)
  checkUrl(url)
  const secret = readSecret(secret_file, 'quotes.secret_file')
  if (secret !== undefined && !/^[\x21-\x7e]+$/.test(secret))
    throw badConfig('quotes.secret_file must be printable ASCII without spaces', 'Check the file')
  return { url, secret }
}
