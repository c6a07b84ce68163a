import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readCell, writeCell } from '../../../src/cli/terminal/render.ts'

const cells = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.stringMatching(/^(?:\\u\{[0-9a-f]{0,7}\}?|[\u202e'=]){0,4}$/),
  fc.stringMatching(/^['=+\-@\t\r]{0,3}[ -~]{0,8}$/),
)

test('every cell is read as it was written, through a file too', () => {
  fc.assert(
    fc.property(cells, (cell) => {
      const file = stringify([[writeCell(cell), 'x']])
      expect(readCell((parse(file) as string[][])[0]![0]!)).toBe(cell)
    }),
  )
})

test('no cell starts like a formula, unless it is a number', () => {
  fc.assert(
    fc.property(cells, (cell) => {
      expect(writeCell(cell)).toMatch(/^(?![=+\-@\t\r])|^[+-]\d+(?:\.\d+)?$/)
    }),
  )
})

test('no cell contains invisible characters', () => {
  fc.assert(
    fc.property(cells, (cell) => {
      expect(writeCell(cell)).not.toMatch(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
    }),
  )
})

test.each([
  ['a\u202eb', 'a\\u{202e}b'],
  ['\u001b[2J', '\\u{001b}[2J'],
  ['a\\u{202e}b', 'a\\u{5c}u{202e}b'],
  ['=cmd()', `'=cmd()`],
  ['+1+cmd|x', `'+1+cmd|x`],
  ['-', `'-`],
  ['@home', `'@home`],
  [`'=x`, `''=x`],
  ['+12025550101', '+12025550101'],
  ['-33.86', '-33.86'],
  [`O'Neil`, `O'Neil`],
])('%s is written as %s', (cell, written) => {
  expect(writeCell(cell)).toBe(written)
})
