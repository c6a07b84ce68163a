import * as z from 'zod/mini'
import { describe, expect, test } from 'vitest'
import { email } from '../../src/contract/records.ts'

const takes = (text: string): boolean => z.safeParse(email, text).success

describe('an e-mail address', () => {
  test.each([
    'ada@acme.example',
    "o'brien+tag@mail.acme.example",
    'ünicode@bücher.example',
    'a_b.c-d!#$%&*/=?^`{|}~@acme.example',
  ])('may be %s', (text) => {
    expect(takes(text)).toBe(true)
  })

  test.each([
    '<ada@acme.example>',
    'a,b@acme.example',
    'ada@acme.example,eve@evil.example',
    'ada;eve@acme.example',
    '"ada"@acme.example',
    'ada@[127.0.0.1]',
    'ada@acme',
    'ada@acme..example',
    'ada@@acme.example',
    'ad\u200ba@acme.example',
    'ada@acme\u202e.example',
    `${'a'.repeat(65)}@acme.example`,
  ])('may not be %j', (text) => {
    expect(takes(text)).toBe(false)
  })
})
