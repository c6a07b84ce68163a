import { describe, expect, test } from 'vitest'
import { readPrice, showPrice } from '../../../src/service/machines/quotes/quote.ts'

describe('a price', () => {
  test.each([
    ['1,234.50', '1234.50'],
    ['1234.5', '1234.50'],
    ['1234', '1234.00'],
    ['0', '0.00'],
    ['0.1', '0.10'],
    // A float would change these numbers.
    ['9007199254740993', '9007199254740993.00'],
    ['123456789012345678901234.56', '123456789012345678901234.56'],
    ['1.005', '1.01'],
    ['2.675', '2.68'],
    ['0.994999999999999999999', '0.99'],
    ['0.999', '1.00'],
    ['1.2345e3', '1234.50'],
    ['5E-1', '0.50'],
    ['4e-3', '0.00'],
    ['1e+2', '100.00'],
  ])('%s is read as %s, exactly', (text, price) => {
    expect(readPrice(text)).toBe(price)
  })

  test.each(['', '-1', '1.', '.5', 'abc', '1e999', '0x10', '١٢', 'NaN', ' 1', '1'.repeat(61)])(
    'is not %j',
    (text) => {
      expect(readPrice(text)).toBeUndefined()
    },
  )

  test.each([
    ['0.00', '0.00'],
    ['999.90', '999.90'],
    ['1234.50', '1,234.50'],
    ['680920.00', '680,920.00'],
    ['123456789012345678901234.56', '123,456,789,012,345,678,901,234.56'],
  ])('%s is shown as %s', (price, shown) => {
    expect(showPrice(price)).toBe(shown)
  })
})
