import { describe, expect, test } from 'vitest'
import { quotesSettings } from '../../../src/service/config/quotes-settings.ts'
import { configSchema } from '../../../src/service/config/schema.ts'

const url = 'https://quotes.example.com/{symbol}'
const read = (section: object) => quotesSettings(configSchema.shape.quotes.parse(section))

describe('the quotes of a configuration', () => {
  test('are the sample if nothing is set', () => {
    expect([quotesSettings(undefined), read({})]).toEqual([undefined, undefined])
  })

  test('are of a service', () => {
    expect(read({ url })).toEqual({ url })
  })

  test.each([
    [{ secret_file: 'a' }, 'quotes.url is missing'],
    [{ url: 'https://quotes.example.com' }, 'quotes.url must contain {symbol}'],
    [{ url: 'https://{symbol}.example.com/' }, 'quotes.url must contain {symbol} in its path'],
    [{ url: 'https://quotes.example.com/#{symbol}' }, 'quotes.url must contain {symbol} in its path'],
    [{ url: 'http://quotes.example.com/{symbol}' }, 'quotes.url must be https'],
    [{ url: 'https://a:b@quotes.example.com/{symbol}' }, 'must not contain a name or a password'],
    [{ url: 'ftp://quotes.example.com/{symbol}' }, 'quotes.url is not a valid URL'],
    [{ url, secret_file: 'none' }, 'quotes.secret_file none cannot be read'],
  ])('%j: %s', (section, why) => {
    expect(() => read(section)).toThrow(why)
  })
})
