import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sameJson } from '../../src/receipt/same-json.ts'

const reordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reordered)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, inner]) => [name, reordered(inner)])
  return Object.fromEntries(members.toReversed())
}

test('compares JSON as its canonical form does, whatever the order of the members', () => {
  const small = fc.jsonValue({ maxDepth: 2, depthSize: 'small' })
  fc.assert(
    fc.property(small, small, (one, other) => {
      expect(sameJson(one, other)).toBe(canonicalize(one) === canonicalize(other))
      expect(sameJson(one, reordered(one))).toBe(true)
      expect(sameJson({ a: one, b: undefined }, { a: one })).toBe(true)
    }),
  )
})

test.each([
  [{ a: 1 }, { a: '1' }, false],
  [{ a: 1 }, { a: 1, b: null }, false],
  [{ a: 1, b: undefined }, { a: 1, c: 2 }, false],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [{ 0: 'x' }, ['x'], false],
  [null, {}, false],
  [0, -0, true],
  [JSON.parse('{"__proto__":1}'), {}, false],
  [JSON.parse('{"toString":1}'), JSON.parse('{"valueOf":1}'), false],
])('%j and %j are the same: %s', (one, other, same) => {
  expect(sameJson(one, other)).toBe(same)
})
