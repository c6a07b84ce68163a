import { expect, test } from 'vitest'
import { parseExactly } from '../../../../src/service/machines/quotes/quote.ts'

test('parses JSON with each number as its text, and strings unchanged', () => {
  const json = String.raw`{"a": [0.10000000000000000001, -1E+2, 12], "b 1.5": "say \"7\" \\", "c": "\\", "d": 8, "e": true, "f": null}`
  expect(parseExactly(json)).toEqual({
    a: ['0.10000000000000000001', '-1E+2', '12'],
    'b 1.5': 'say "7" \\',
    c: '\\',
    d: '8',
    e: true,
    f: null,
  })
})

test.each(['', '01', '1.', '{"a":1', '{a:1}', 'NaN', '"', '1 2'])('%j is not JSON', (json) => {
  expect(() => parseExactly(json)).toThrow(SyntaxError)
})
