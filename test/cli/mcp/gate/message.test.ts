import { describe, expect, test } from 'vitest'
import { readMessage, readServerMessage } from '../../../../src/cli/mcp/gate/message.ts'
import { isExactNumber } from '../../../../src/cli/mcp/gate/strict-json.ts'

const read = (line: string | Buffer) => readMessage(Buffer.from(line as string))
const call = (params: string, rest = '"id":1,') =>
  `{"jsonrpc":"2.0",${rest}"method":"tools/call","params":${params}}`
const why = (line: string | Buffer): string => {
  const message = read(line)
  if (message.kind !== 'refused') throw new Error(`It was read as ${message.kind}`)
  return message.why
}

describe('a message of the client', () => {
  test('is read as a call with its arguments, token and bytes', () => {
    const line = call('{"name":"a\\u0062","arguments":{"n":1.0},"_meta":{"progressToken":3}}')
    expect(read(line)).toEqual({
      kind: 'call',
      call: {
        id: 1,
        name: 'ab',
        arguments: { n: 1 },
        parameters: undefined,
        progressToken: 3,
        envelope: {},
        bytes: Buffer.from(line),
      },
    })
  })

  test('has other parameters that the approver has to see', () => {
    const line = call(
      '{"name":"a","task":{"ttl":1},"_meta":{"progressToken":3,"traceparent":"00","io.modelcontextprotocol/protocolVersion":"2026-07-28","acme/force":true}}',
    )
    expect(read(line)).toMatchObject({
      call: {
        arguments: {},
        parameters: { task: { ttl: 1 }, _meta: { 'acme/force': true } },
        envelope: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
      },
    })
  })

  test.each([
    ['baggage', '"route=shop"'],
    ['io.modelcontextprotocol/anything', '{"force":true}'],
    ['progressToken', '{"force":true}'],
    ['traceparent', '{"force":true}'],
    ['io.modelcontextprotocol/logLevel', '["force"]'],
  ])('shows the approver %s = %s, which the tool could read', (name, value) => {
    expect(read(call(`{"name":"a","_meta":{"${name}":${value}}}`))).toMatchObject({
      call: { parameters: { _meta: { [name]: JSON.parse(value) } } },
    })
  })

  test.each([
    ['{"jsonrpc":"2.0","id":"x","method":"server/discover"}', 'request'],
    ['{"jsonrpc":"2.0","id":"x","method":"resources/templates/list"}', 'request'],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"c"}}', 'request'],
    ['{"jsonrpc":"2.0","method":"notifications/initialized"}', 'notification'],
    ['{"jsonrpc":"2.0","id":1,"result":{"a":null}}', 'response'],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}', 'response'],
  ])('passes as what it is: %s', (line, kind) => {
    expect(read(line).kind).toBe(kind)
  })

  test.each<[string, string | Buffer, string]>([
    ['a member twice', call('{"name":"a","name":"b"}'), 'has a member twice'],
    ['a member twice, once escaped', call('{"name":"a","n\\u0061me":"b"}'), 'has a member twice'],
    [
      'a method twice',
      '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}',
      'has a member twice',
    ],
    [
      'a member in another case',
      '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}',
      '"Method"',
    ],
    ['params in another case', call('{"name":"a","Name":"b"}'), 'params.Name'],
    ['a letter that folds to another', call('{"name":"a","argument\u017f":{}}'), 'which a server could take'],
    ['__proto__', call('{"name":"a","arguments":{"__proto__":{"x":1}}}'), '__proto__'],
    ['a huge number', call('{"name":"a","arguments":{"n":9007199254740993}}'), '9007199254740993'],
    ['an infinite number', call('{"name":"a","arguments":{"n":1e400}}'), '1e400'],
    ['too many digits', call('{"name":"a","arguments":{"n":0.10000000000000000001}}'), 'write it as text'],
    ['a negative zero', call('{"name":"a","arguments":{"n":-0}}'), '-0'],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'is not UTF-8'],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'is not UTF-8'],
    ['a byte order mark', `\ufeff${call('{"name":"a"}')}`, 'is not one JSON text'],
    ['a batch', `[${call('{"name":"a"}')}]`, 'is a batch'],
    ['two messages', `${call('{"name":"a"}')}${call('{"name":"b"}')}`, 'is not one JSON text'],
    ['a carriage return within', call('\r{"name":"a"}'), 'line separator'],
    ['a line separator within text', call('{"name":"a","arguments":{"t":"\u2028{}"}}'), 'line separator'],
    ['the next-line character', call('{"name":"a","arguments":{"t":"\u0085"}}'), 'line separator'],
    ['NUL', call('{"name":"a","arguments":{"t":"a\\u0000b"}}'), 'NUL'],
    ['half a surrogate pair', call('{"name":"a","arguments":{"t":"\\ud800"}}'), 'surrogate'],
    ['a name with NUL', call('{"name":"a\\u0000"}'), 'NUL'],
    ['a name with a space', call('{"name":"a "}'), 'must name a tool'],
    ['no name', call('{}'), 'must name a tool'],
    ['a list of arguments', call('{"name":"a","arguments":[]}'), 'params.arguments'],
    ['positional params', call('["a"]'), 'an object in params'],
    ['no id', call('{"name":"a"}', ''), 'must have an id'],
    ['null as id', call('{"name":"a"}', '"id":null,'), 'as id'],
    ['a fraction as id', call('{"name":"a"}', '"id":1.5,'), 'as id'],
    ['a request that is an answer too', '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', 'neither'],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', 'jsonrpc'],
    ['a text', '"tools/call"', 'is not an object'],
    [
      'nesting that overflows the stack',
      `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
      'is not one JSON text',
    ],
  ])('is refused with %s', (_, line, part) => {
    expect(why(line)).toContain(part)
  })

  test.each([
    'Tools/Call',
    'tools/call ',
    'tools/run',
    'x/tools/call',
    'tool/call',
    'call_tool',
    'callTool',
    'x/tool.call',
    'acme/odd',
    '',
  ])('is refused with the method "%s", which a lenient server could take for a call', (method) => {
    for (const id of [{ id: 1 }, {}])
      expect(why(JSON.stringify({ jsonrpc: '2.0', ...id, method }))).toContain('is not one of MCP')
  })

  test('keeps the id when it is refused, so that the request or the answer can be answered', () => {
    expect(read('{"jsonrpc":"2.0","id":7,"method":"Tools/Call"}')).toMatchObject({ id: 7, isResponse: false })
    expect(read('{"jsonrpc":"2.0","id":7,"result":{},"more":1}')).toMatchObject({ id: 7, isResponse: true })
  })

  test.each<[string, string | number | undefined, boolean]>([
    [call('{"name":"a","name":"b"}'), 1, false],
    ['{"jsonrpc":"2.0","id":"x-7","method":"ping","method":"tools/call"}', 'x-7', false],
    [call('{"name":"a","arguments":{"id":2,"id":3}}'), 1, false],
    [call('{"name":"a","arguments":{"t":"\u2028\\"id\\": 5,"}}'), 1, false],
    [call('{"name":"a","arguments":{"n":1e400}}'), 1, false],
    [call('{"name":"a","arguments":{"__proto__":{"x":1}}}'), 1, false],
    ['{"jsonrpc":"2.0","id":7,"result":{"a":1,"a":2}}', 7, true],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', undefined, false],
    ['{"jsonrpc":"2.0","id":1,"i\\u0064":2,"method":"ping"}', undefined, false],
    ['{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping","method":"ping"}', undefined, false],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', undefined, false],
    ['{"jsonrpc":"2.0","id":"a\u2028b","method":"ping"}', undefined, false],
    [`${call('{"name":"a"}')}${call('{"name":"b"}')}`, undefined, false],
    [`[${call('{"name":"a","name":"b"}')}]`, undefined, false],
  ])(
    'keeps the id of a message that two parsers could read differently, if it has one: %s',
    (line, id, isResponse) => {
      expect(read(line)).toMatchObject({ kind: 'refused', id, isResponse })
    },
  )
})

test.each([
  ['0', true],
  ['0.10', true],
  ['1E3', true],
  ['9007199254740991', true],
  ['1e23', true],
  ['123456789012345680000', true],
  ['123456789012345678901', false],
  ['1e-400', false],
  ['-0.0', false],
  ['2.2250738585072011e-308', false],
])('the number %s is exact: %s', (literal, exact) => {
  expect(isExactNumber(literal)).toBe(exact)
})

test.each([
  ['an answer with a method', '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}'],
  ['an answer with an empty method', '{"jsonrpc":"2.0","id":1,"method":null,"result":{}}'],
  ['an error with a method', '{"jsonrpc":"2.0","id":1,"method":"x","error":{"code":-1,"message":"no"}}'],
  ['an id twice', '{"jsonrpc":"2.0","id":1,"id":null,"result":{}}'],
  ['an id twice, once escaped', '{"jsonrpc":"2.0","id":1,"i\\u0064":2,"result":{}}'],
  ['an id in another case', '{"jsonrpc":"2.0","ID":1,"result":{}}'],
  ['an id in both cases', '{"jsonrpc":"2.0","id":null,"Id":1,"result":{}}'],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"result":{}}]'],
  ['two messages', '{"jsonrpc":"2.0","id":"x","method":"y"}\r{"jsonrpc":"2.0","id":1,"result":{}}'],
])('leaves out a line of the server with %s', (_, line) => {
  expect(readServerMessage(Buffer.from(line))).toBeUndefined()
})

test('passes on what a server answers, whatever it contains', () => {
  const line = '{"jsonrpc":"2.0","id":1,"result":{"id":1,"ID":2,"method":"x","a":1,"a":2},"extra":1}'
  expect(readServerMessage(Buffer.from(line))).toMatchObject({ id: 1, extra: 1 })
})
