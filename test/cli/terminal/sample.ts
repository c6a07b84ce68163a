import { metaOf } from '../../../src/contract/field.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import type * as z from 'zod/mini'

// Sample responses, generated from the schema of an operation.

type Schema = z.core.$ZodType
type Def = {
  type: string
  innerType?: Schema
  element?: Schema
  shape?: Record<string, Schema>
  entries?: Record<string, string>
  options?: Schema[]
  values?: unknown[]
  valueType?: Schema
}

/** Characters that a terminal must not receive raw, or that break a line or a cell. */
export const hostileText = 'a\tb\n\u001b[2J\u202e"é'
export const personalText = {
  mobile: '+12025550199',
  email: 'grace@acme.example',
  other: 'Grace-Hopper-1906',
}

/** These commands would wait forever. */
const ended = new Set(['sent', 'approved'])

const textFor = (name: string, schema: Schema): string => {
  const meta = metaOf(schema)
  if (meta?.personal) {
    if (/email/i.test(name)) return personalText.email
    return /mobile|phone/i.test(name) ? personalText.mobile : personalText.other
  }
  if (meta?.secret) return 'svc_org_1a2b3c4d_0123456789abcdef0123456789'
  if (/(?:_at|^at)$/.test(name)) return '2030-01-31T09:00:00.000Z'
  return /id$|status|hash/.test(name) ? 'apr_3mYk8wQZ' : hostileText
}

const sampleOf = (schema: Schema, name: string): unknown => {
  const def = schema._zod.def as unknown as Def
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'readonly':
      return sampleOf(def.innerType!, name)
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape!).map(([field, inner]) => [field, sampleOf(inner, field)]),
      )
    case 'array':
      return [sampleOf(def.element!, name), sampleOf(def.element!, name)]
    case 'union':
      return sampleOf(def.options![0]!, name)
    case 'literal':
      return def.values![0]
    case 'enum':
      return Object.values(def.entries!).find((word) => ended.has(word)) ?? Object.values(def.entries!)[0]
    case 'record':
      return { key: sampleOf(def.valueType!, name) }
    case 'number':
      return 7
    case 'boolean':
      return true
    case 'string':
      return textFor(name, schema)
    case 'unknown':
    case 'any':
      return { level: hostileText }
    default:
      throw new Error(`No sample for ${def.type} (${name})`)
  }
}

/** Sample data for a response of this operation, or undefined if it has none. */
export const sampleData = ({ data }: Operation): unknown => data && sampleOf(data, 'data')
