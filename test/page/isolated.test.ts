import { expect, test } from 'vitest'
import { isolated } from '../../src/page/language/message.ts'

test('a name in the other direction does not change the order of the words around it', () => {
  expect(isolated('בנק', false)).toBe('\u2068בנק\u2069')
  expect(isolated('Acme', true)).toBe('\u2068Acme\u2069')
  expect(isolated('Acme', false)).toBe('Acme')
})
