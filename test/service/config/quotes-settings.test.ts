import { describe, expect, test } from 'vitest'
import { quotesSettings } from '../../../src/service/config/quotes-settings.ts'
import { configSchema } from '../../../src/service/config/schema.ts'

const url = 'https://quotes.example.com/{symbol}'
const read = (section: object, env = {}) => quotesSettings(configSchema.shape.quotes.parse(section), env)

describe('the quotes of a configuration', () => {
  test('are the sample if nothing is set', () => {
    expect([quotesSettings(undefined, {}), read({})]).toEqual([undefined, undefined])
  })

  test('are a file, or a service with its secret', () => {
    expect(read({ file: 'prices.json' })).toEqual({ file: 'prices.json' })
    expect(read({ url })).toEqual({ url })
    expect(read({ url, secret_env: 'KEY' }, { KEY: 'h$&u/sh' })).toEqual({ url, secret: 'h$&u/sh' })
  })

  test.each([
    [{ file: 'a', url }, 'quotes.file cannot be combined with other fields'],
    [{ secret: 'a' }, 'quotes requires a file or a url'],
    [{ url: 'https://quotes.example.com' }, 'quotes.url must contain {symbol}'],
    [{ url: 'https://{symbol}.example.com/' }, 'quotes.url must contain {symbol} in its path'],
    [{ url: 'https://quotes.example.com/#{symbol}' }, 'quotes.url must contain {symbol} in its path'],
    [{ url: 'http://quotes.example.com/{symbol}' }, 'quotes.url must be https'],
    [{ url: 'https://a:b@quotes.example.com/{symbol}' }, 'must not contain a name or a password'],
    [{ url: 'ftp://quotes.example.com/{symbol}' }, 'quotes.url is not a valid URL'],
    [{ url, secret: 'a\nb' }, 'quotes.secret must be printable ASCII'],
    [{ url, secret_env: 'UNSET' }, 'quotes.secret_env names UNSET, which is not set'],
  ])('%j: %s', (section, why) => {
    expect(() => read(section)).toThrow(why)
  })
})
