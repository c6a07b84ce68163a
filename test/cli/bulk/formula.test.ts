import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeFormula, unescapeFormula } from '../../../src/cli/bulk/formula.ts'

const cells = fc.oneof(fc.string(), fc.stringMatching(/^['=+\-@\t\r]{0,3}[ -~]{0,8}$/))

test('every cell comes back as it was, through a file too', () => {
  fc.assert(
    fc.property(cells, (cell) => {
      const file = stringify([[escapeFormula(cell), 'x']])
      expect(unescapeFormula((parse(file) as string[][])[0]![0]!)).toBe(cell)
    }),
  )
})

test('no cell starts as a formula does, unless it is a number', () => {
  fc.assert(
    fc.property(cells, (cell) => {
      expect(escapeFormula(cell)).toMatch(/^(?![=+\-@\t\r])|^[+-]\d+(?:\.\d+)?$/)
    }),
  )
})

test.each([
  ['=cmd()', `'=cmd()`],
  ['+1+cmd|x', `'+1+cmd|x`],
  ['-', `'-`],
  ['@home', `'@home`],
  [`'=x`, `''=x`],
  ['+12025550101', '+12025550101'],
  ['-33.86', '-33.86'],
  [`O'Neil`, `O'Neil`],
])('%s is written as %s', (cell, written) => {
  expect(escapeFormula(cell)).toBe(written)
})
