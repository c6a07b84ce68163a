import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromBase64url, fromUtf8, parseExact, toBase64url } from '../../src/core/exact-json.ts'

describe('base64url', () => {
  test('is read only in its canonical form', () => {
    const bytes = new Uint8Array([0xfb, 0xff, 0x00, 0x10])
    expect(toBase64url(bytes)).toBe('-_8AEA')
    expect([...fromBase64url('-_8AEA')]).toEqual([...bytes])
    expect(fromBase64url('')).toHaveLength(0)
  })

  test.each(['-_8AEA==', '-_8AEB', '+/8AEA', '-_8A EA', '-_8AE', 'ä', '-_8AEA\n'])(
    'is not read as %j',
    (text) => {
      expect(() => fromBase64url(text)).toThrow(SyntaxError)
    },
  )
})

describe('JSON', () => {
  test.each([
    '{"a":":","b\\":":{"c":[{"d":"\\\\"},1,null]},"":""}',
    '[]',
    '"a:b"',
    'null',
    '{"__proto__":1}',
  ])('is read if its members are unique: %s', (text) => {
    expect(parseExact(text)).toEqual(JSON.parse(text))
  })

  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '[{"x":{"a":{},"a":[]}}]',
    '{"__proto__":1,"__proto__":2}',
    '{ "a" : 1 ,\n"a"\t:\r\n1 }',
    '{"a\\\\":1,"a\\\\":1}',
    '{"\\\\\\"":":","\\\\\\"":2}',
  ])('is not read with a duplicate member: %s', (text) => {
    expect(() => parseExact(text)).toThrow('a member appears twice')
  })
})

describe('JSON of any kind', () => {
  const spaced = fc.tuple(fc.json(), fc.constantFrom(undefined, 1, '\t', ' \n'))
  const text = spaced.map(([json, space]) => JSON.stringify(JSON.parse(json), null, space))

  test('is read, but not with one member more than it appears to have', () => {
    fc.assert(
      fc.property(text, fc.string(), (json, name) => {
        expect(parseExact(json)).toEqual(JSON.parse(json))
        const member = `${JSON.stringify(name)}:${json}`
        expect(parseExact(`{${member}}`)).toEqual(JSON.parse(`{${member}}`))
        expect(() => parseExact(`[{${member},${member}}]`)).toThrow('a member appears twice')
      }),
    )
  })
})

describe('UTF-8', () => {
  test('is not repaired', () => {
    expect(fromUtf8(new Uint8Array([0xef, 0xbb, 0xbf, 0x41]))).toBe('\uFEFFA')
    expect(() => fromUtf8(new Uint8Array([0xc0, 0x80]))).toThrow(TypeError)
  })
})
