import { isRecord } from '../../../core/is-record.ts'
import type { ToolCall } from './message.ts'

// In the revision of 2026, a tool can ask for arguments in HTTP headers, so that a proxy can route a call without reading it:
// "x-mcp-header": "Region" in the schema of an argument is `Mcp-Param-Region: …`. A server refuses a call without them.

const annotation = 'x-mcp-header'

/** What may be the name of a header. */
const token = /^[\w!#$%&'*+.^`|~-]{1,100}$/

type Mirrored = { path: string[]; name: string; type: unknown }

/** The annotated arguments, which can be members of others. */
const annotated = (schema: unknown, path: string[] = []): Mirrored[] => {
  if (!isRecord(schema) || !isRecord(schema['properties']) || path.length > 32) return []
  return Object.entries(schema['properties']).flatMap(([member, inner]) => {
    if (!isRecord(inner)) return []
    const place = [...path, member]
    const name = inner[annotation]
    const own = name === undefined ? [] : [{ path: place, name: String(name), type: inner['type'] }]
    return own.concat(annotated(inner, place))
  })
}

/** A schema with one invalid annotation is invalid as a whole. */
const areValid = (all: readonly Mirrored[]): boolean =>
  new Set(all.map(({ name }) => name.toLowerCase())).size === all.length &&
  all.every(({ name, type }) => token.test(name) && ['string', 'integer', 'boolean'].includes(String(type)))

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, member) => (isRecord(inner) && Object.hasOwn(inner, member) ? inner[member] : undefined),
    value,
  )

const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/

/** As plain text if a header can hold it, and otherwise in Base64. */
const encoded = (text: string): string =>
  plain.test(text) && !/^=\?base64\?.*\?=$/.test(text)
    ? text
    : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`

/** The headers that the schema of a tool asks for. An argument that is absent or null has none. */
export const mirroredHeaders = (
  schema: unknown,
  { arguments: given, envelope }: Pick<ToolCall, 'arguments' | 'envelope'>,
): Record<string, string> => {
  // Only a protocol that describes the client in each request has them.
  const all = Object.keys(envelope).length > 0 ? annotated(schema) : []
  if (!areValid(all)) return {}
  return Object.fromEntries(
    all.flatMap(({ path, name }): [string, string][] => {
      const value = valueAt(given, path)
      return ['string', 'number', 'boolean'].includes(typeof value)
        ? [[`Mcp-Param-${name}`, encoded(String(value))]]
        : []
    }),
  )
}
