import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { shapeOf } from '../../../src/service/http/json-shape.ts'

const shape = (text: string) => shapeOf(new TextEncoder().encode(text))

/** What a parser finds. */
const found = (value: unknown): { values: number; depth: number } => {
  if (typeof value !== 'object' || value === null) return { values: 1, depth: 0 }
  const inner = Object.values(value).map(found)
  return {
    values: inner.reduce((sum, { values }) => sum + values, 1),
    depth: 1 + inner.reduce((most, { depth }) => Math.max(most, depth), 0),
  }
}

test.each([
  ['1', 1, 0],
  ['"[{,"', 1, 0],
  ['"\\"[,"', 1, 0],
  ['"\\\\"', 1, 0],
  ['[1,2,3]', 4, 1],
  ['{"a":{"b":[1]}}', 4, 3],
])('%s has %i values and %i levels', (text, values, depth) => {
  expect(shape(text)).toEqual({ values, depth })
})

test('finds the depth of a parser, and no fewer values', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, wide) => {
      const text = JSON.stringify(value, null, wide ? 2 : undefined)
      const parsed = found(JSON.parse(text))
      const { values, depth } = shape(text)
      expect(depth).toBe(parsed.depth)
      expect(values).toBeGreaterThanOrEqual(parsed.values)
      expect(values).toBeLessThanOrEqual(2 * parsed.values)
    }),
  )
})
