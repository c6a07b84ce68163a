import { expect, test } from 'vitest'
import type * as z from 'zod/mini'
import { orgFields, type Operations } from '../../src/contract/operation.ts'
import { table, type OperationId } from '../../src/contract/table.ts'
import { isHoldable } from '../../src/rules/check.ts'
import { english } from './english.ts'

type Definition = {
  shape?: Record<string, z.core.$ZodType>
  element?: z.core.$ZodType
  innerType?: z.core.$ZodType
  options?: z.core.$ZodType[]
}

/** The names of all fields of a schema, at any depth. */
const namesIn = (schema: z.core.$ZodType): string[] => {
  const { shape = {}, element, innerType, options = [] } = schema._zod.def as Definition
  const inner = [...Object.values(shape), ...options, element, innerType].filter((one) => one !== undefined)
  return [...Object.keys(shape), ...inner.flatMap(namesIn)]
}

test('each field of a change that a rule can hold has a name on the page', () => {
  const held = (Object.keys(table) as OperationId[]).filter(isHoldable)
  const names = held.flatMap((id) => namesIn((table as Operations)[id]!.input))
  // A list of changes is asked as one, and shows each by itself.
  const elsewhere = new Set([...orgFields, 'rows', 'input', 'skip_existing'])
  expect(names).toEqual(expect.arrayContaining(['members', 'argv', 'device_trust']))
  expect(names.filter((name) => !elsewhere.has(name) && !(name in english['field']!))).toEqual([])
})
