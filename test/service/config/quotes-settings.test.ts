import { describe, expect, test } from 'vitest'
import { quotesSettings } from '../../../src/service/config/quotes-settings.ts'
import { configSchema } from '../../../src/service/config/schema.ts'

const pointers = { name: '/name', price: '/price', exchange: '/exchange' }
const url = 'https://quotes.example.com/{symbol}'
const read = (section: object, env = {}) => quotesSettings(configSchema.shape.quotes.parse(section), env)

describe('the quotes of a configuration', () => {
  test('are the sample if nothing is set', () => {
    expect([quotesSettings(undefined, {}), read({})]).toEqual([undefined, undefined])
  })

  test('are a file, or a template', () => {
    expect(read({ file: 'prices.json' })).toEqual({ file: 'prices.json' })
    expect(read({ url, ...pointers })).toEqual({ http: { url, headers: {}, ...pointers } })
  })

  test('put the secret where the template says, by default into a bearer', () => {
    const env = { KEY: 'h$&u/sh' }
    const readWith = (more: object) => read({ url, ...pointers, secret_env: 'KEY', ...more }, env)
    expect(readWith({})).toMatchObject({ http: { headers: { authorization: 'Bearer h$&u/sh' } } })
    expect(readWith({ headers: { 'x-token': '{secret}' } })).toMatchObject({
      http: { headers: { 'x-token': 'h$&u/sh' } },
    })
    expect(readWith({ url: `${url}?k={secret}` })).toMatchObject({
      http: { url: `${url}?k=h%24%26u%2Fsh`, headers: {} },
    })
  })

  test.each([
    [{ file: 'a', url }, 'quotes.file cannot be combined with other fields'],
    [{ name: '/name' }, 'quotes requires a file or a url'],
    [{ url }, 'quotes requires name, price and exchange'],
    [{ url: 'https://quotes.example.com', ...pointers }, 'quotes.url must contain {symbol}'],
    [{ url: 'https://{symbol}.example.com/', ...pointers }, 'quotes.url must contain {symbol} in its path'],
    [
      { url: 'https://quotes.example.com/#{symbol}', ...pointers },
      'quotes.url must contain {symbol} in its path',
    ],
    [{ url: 'http://quotes.example.com/{symbol}', ...pointers }, 'quotes.url must be https'],
    [
      { url: 'https://a:b@quotes.example.com/{symbol}', ...pointers },
      'must not contain a name or a password',
    ],
    [{ url: 'ftp://quotes.example.com/{symbol}', ...pointers }, 'quotes.url is not a valid URL'],
    [{ url, ...pointers, headers: { a: '{secret}' } }, 'quotes uses {secret}, but no secret is set'],
    [{ url, ...pointers, secret: 'a\nb' }, 'quotes.secret must be printable ASCII'],
    [{ url, ...pointers, secret_env: 'UNSET' }, 'quotes.secret_env names UNSET, which is not set'],
  ])('%j: %s', (section, why) => {
    expect(() => read(section)).toThrow(why)
  })

  test.each(['price', 'price/0', '/a~2', '/a~', ''])('rejects %j as a pointer', (price) => {
    expect(configSchema.shape.quotes.safeParse({ price }).success).toBe(false)
  })
})
