import type { Env } from '../../core/env.ts'
import { badConfig, parseProviderUrl, readSecret } from './private-text.ts'
import type { Config } from './schema.ts'

/** Stock prices come from a file, or from a service: `{symbol}` in the URL is replaced by the stock's code. */
export type QuotesSettings = { file: string } | { url: string; secret?: string | undefined }

const exampleUrl = 'https://quotes.example.com/v1/{symbol}'

const checkUrl = (template: string): void => {
  const [one, other] = ['a', 'b'].map((symbol) =>
    parseProviderUrl('quotes', template.replaceAll('{symbol}', symbol), exampleUrl),
  ) as [URL, URL]
  if (one.origin !== other.origin || one.pathname + one.search === other.pathname + other.search)
    throw badConfig('quotes.url must contain {symbol} in its path or query', exampleUrl)
}

/** Undefined if nothing is set; the service then uses sample prices. Throws an SvcError that names the field. */
export const quotesSettings = (section: Config['quotes'], env: Env): QuotesSettings | undefined => {
  if (!section || Object.keys(section).length === 0) return undefined
  const { file, url, ...rest } = section
  if (file !== undefined && (url !== undefined || Object.keys(rest).length > 0))
    throw badConfig('quotes.file cannot be combined with other fields', 'Use only quotes.file, or remove it')
  if (file !== undefined) return { file }
  if (url === undefined) throw badConfig('quotes requires a file or a url', exampleUrl)
  checkUrl(url)
  const secret = readSecret(section, 'quotes.secret', env)
  if (secret !== undefined && !/^[\x21-\x7e]+$/.test(secret))
    throw badConfig(
      'quotes.secret must be printable ASCII without spaces',
      'Check the file or the variable that it comes from',
    )
  return { url, secret }
}
