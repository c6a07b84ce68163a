import { describe, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import type { Operation } from '../../src/contract/operation.ts'
import { table } from '../../src/contract/table.ts'

// A phone, an e-mail, a text message or a terminal shows the text of these fields.

type Schema = z.core.$ZodType
type Def = { type: string; innerType?: Schema; element?: Schema; shape?: Record<string, Schema> }

/** Every text field of a schema, at any depth. */
const textsIn = (schema: Schema, name: string): [string, Schema][] => {
  const { type, innerType, element, shape } = schema._zod.def as unknown as Def
  if (type === 'string') return [[name, schema]]
  if (innerType) return textsIn(innerType, name)
  if (element) return textsIn(element, `${name}[]`)
  return Object.entries(shape ?? {}).flatMap(([field, inner]) => textsIn(inner, `${name}.${field}`))
}

/** Fields of a credential, for which WebAuthn accepts only base64url. */
const isCredential = ([name]: [string, Schema]): boolean => name.endsWith('.response.id')

const texts = Object.entries(table as Record<string, Operation>).flatMap(([id, { input }]) =>
  textsIn(input, id).filter((field) => !isCredential(field)),
)

describe('invisible characters are rejected in every text field', () => {
  test.each(['\u202e', '\u2066', '\u200b', '\u001b', '\u2028', '\u{e0041}', '\ufeff', '\u3164', '\ud800'])(
    '%j',
    (char) => {
      expect(texts.length).toBeGreaterThan(100)
      const taken = texts.filter(
        ([, schema]) => (schema as z.ZodMiniString).safeParse(`Ada${char}Lovelace`).success,
      )
      expect(taken.map(([name]) => name)).toEqual([])
    },
  )
})

test('names keep joined letters, emoji and accents', () => {
  const [, first] = texts.find(([name]) => name === 'createUser.first_name')!
  for (const name of ['نمی‌خواهم', '👩‍👩‍👧', 'Zoë', 'O’Neil', '日本'])
    expect((first as z.ZodMiniString).safeParse(name)).toEqual({ success: true, data: name })
})
