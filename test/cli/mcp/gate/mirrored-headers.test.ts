import { expect, test } from 'vitest'
import { mirroredHeaders } from '../../../../src/cli/mcp/gate/mirrored-headers.ts'

const envelope = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
const schema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    query: { type: 'string' },
    options: { type: 'object', properties: { limit: { type: 'integer', 'x-mcp-header': 'Limit' } } },
    force: { type: 'boolean', 'x-mcp-header': 'Force' },
  },
}
const headersOf = (given: Record<string, unknown>, of: unknown = schema) =>
  mirroredHeaders(of, { arguments: given, envelope })

test('repeats the annotated arguments of a call in headers, at any depth', () => {
  expect(headersOf({ region: 'us-west1', query: 'select 1', options: { limit: 42 }, force: false })).toEqual({
    'Mcp-Param-Region': 'us-west1',
    'Mcp-Param-Limit': '42',
    'Mcp-Param-Force': 'false',
  })
})

test('has no header for an argument that is absent, null or not a plain value', () => {
  expect(headersOf({ region: null, options: 7, force: [true] })).toEqual({})
  expect(headersOf({})).toEqual({})
})

test.each([
  ['us west', 'us west'],
  ['', '=?base64??='],
  [' padded', '=?base64?IHBhZGRlZA==?='],
  ['padded ', '=?base64?cGFkZGVkIA==?='],
  ['Zürich', '=?base64?WsO8cmljaA==?='],
  ['a\r\nX-Admin: 1', '=?base64?YQ0KWC1BZG1pbjogMQ==?='],
  ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
])('writes %j as %s', (region, value) => {
  expect(headersOf({ region })).toEqual({ 'Mcp-Param-Region': value })
})

test('has no headers in an older revision of the protocol', () => {
  expect(mirroredHeaders(schema, { arguments: { region: 'x' }, envelope: {} })).toEqual({})
})

test.each([
  ['a name that is not a header', { type: 'string', 'x-mcp-header': 'a b' }],
  ['a name with a line end', { type: 'string', 'x-mcp-header': 'a\r\nX-Admin' }],
  ['a name that is not text', { type: 'string', 'x-mcp-header': { a: 1 } }],
  ['a type that has no plain value', { type: 'object', 'x-mcp-header': 'Other' }],
  ['a number that is no integer', { type: 'number', 'x-mcp-header': 'Other' }],
  ['the same name in another case', { type: 'string', 'x-mcp-header': 'REGION' }],
])('has no headers at all if the schema has %s', (_, other) => {
  const properties = { ...schema.properties, other }
  expect(headersOf({ region: 'us', other: 'x' }, { properties })).toEqual({})
  expect(headersOf({ region: 'us' }, 'nonsense')).toEqual({})
})
