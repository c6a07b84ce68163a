import { metaOf } from '../../../src/contract/field.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import type { Seen } from '../../fake-hosted.ts'
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

/** What a request named, in its path, its query and its body. */
const namedIn = (
  operation: Operation,
  { path, body }: Pick<Seen, 'path' | 'body'>,
): Record<string, unknown> => {
  const { pathname, searchParams } = new URL(path, 'http://localhost')
  const parts = pathname.split('/').toReversed()
  const inPath = operation.path.split('/').toReversed()
  return {
    ...Object.fromEntries(
      inPath.flatMap((part, i) =>
        part.startsWith('{') ? [[part.slice(1, -1), decodeURIComponent(parts[i]!)]] : [],
      ),
    ),
    ...Object.fromEntries(searchParams),
    ...(operation.method === 'POST' && body ? (JSON.parse(body) as object) : {}),
  }
}

/** The field of a record that shows what a request named. */
const shownAs = (name: string, value: unknown, record: object): string => {
  if (name === 'orgIdOrSlug') return /^\d+$/.test(String(value)) ? 'id' : 'slug'
  if (name === 'orgId') return 'org_id'
  if (name === 'since' || name === 'until')
    return ['at', 'requested_at'].find((one) => one in record) ?? 'created_at'
  return /^user_?id$/i.test(name) && 'mobile' in record ? 'id' : name
}

/** The sample for a request, about what it asked for. */
export const answerTo = (operation: Operation, request: Pick<Seen, 'path' | 'body'>): unknown => {
  const data = sampleData(operation)
  if (operation.effect !== 'read') return data
  const { type } = namedIn(operation, request)
  for (const event of (data as { events?: object[] } | undefined)?.events ?? [])
    if (type !== undefined) Object.assign(event, { type })
  for (const record of Array.isArray(data) ? data : [data])
    for (const [name, value] of Object.entries(namedIn(operation, request))) {
      if (typeof record !== 'object' || record === null) continue
      const field = shownAs(name, value, record)
      const sample = (record as Record<string, unknown>)[field]
      if (typeof sample === 'number') Object.assign(record, { [field]: Number(value) })
      if (typeof sample === 'string') Object.assign(record, { [field]: String(value) })
    }
  return data
}
