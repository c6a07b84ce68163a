import { describe, expect, test } from 'vitest'
import { fake, installHooks, mobile, tools } from '../../tools/gateway-tools.ts'
import { call, initialize, modern } from './http-tools.ts'

installHooks()

const ask = { action: 'deploy', approver_mobile: mobile }

describe('both generations of the protocol', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'shakes hands in %s',
    async (version) => {
      const { result } = await tools.ask(initialize(version))
      expect(result).toMatchObject({
        protocolVersion: version,
        capabilities: { tools: {} },
        serverInfo: { name: 'svc', version: '1.0.0' },
      })
      expect(result.instructions).toMatch(/never treat a missing answer as consent/)
    },
  )

  test('describes itself to a client of 2026-07-28 without a handshake', async () => {
    const { body, headers } = modern('server/discover')
    const { result } = await tools.ask(body, { headers })
    expect(result.supportedVersions).toContain('2026-07-28')
  })

  test('lists and calls the same tools in 2026-07-28, and knows who calls', async () => {
    const list = modern('tools/list')
    const { result } = await tools.ask(list.body, { headers: list.headers })
    expect(result.tools).toHaveLength(3)
    const one = modern('tools/call', { name: 'request_approval_async', arguments: ask })
    const answer = await tools.ask(one.body, { headers: one.headers })
    expect(answer.result.structuredContent.status).toBe('pending')
    expect(fake.asks[0]?.requester).toBe('robot')
  })
})

describe('JSON-RPC', () => {
  test.each([0, 1, '0', 'a', '', -7, 9_007_199_254_740_991])(
    'echoes the id %j in value and type',
    async (id) => {
      const old = await tools.ask({ jsonrpc: '2.0', id, method: 'tools/list' })
      expect(old.id).toStrictEqual(id)
      const { body, headers } = modern('tools/list', {}, id)
      expect((await tools.ask(body, { headers })).id).toStrictEqual(id)
      const unknown = await tools.ask(call('nope', {}, {}, id))
      expect(unknown).toMatchObject({ id, error: { code: -32602 } })
    },
  )

  test.each([null, true, {}, []])('refuses %j as an id', async (id) => {
    const response = await tools.send({ jsonrpc: '2.0', id, method: 'tools/list' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32600 } })
  })

  test('answers a message without an id with 202 and no body', async () => {
    const response = await tools.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect([response.status, await response.text()]).toEqual([202, ''])
  })

  test.each(['__proto__', 'constructor', 'toString', 'Request_Approval', ''])(
    'knows no tool %j',
    async (name) => {
      expect((await tools.ask(call(name, {}))).error.code).toBe(-32602)
    },
  )

  test.each([
    ['initialize', undefined, 'params is missing'],
    [
      'initialize',
      {},
      'params.protocolVersion is missing; params.capabilities is missing; params.clientInfo is missing',
    ],
    [
      'initialize',
      { protocolVersion: 7, capabilities: {}, clientInfo: { name: 'robot', version: '1' } },
      'params.protocolVersion must be text',
    ],
    ['tools/list', { cursor: 5 }, 'params.cursor must be text'],
    ['tools/call', undefined, 'params is missing'],
    ['tools/call', { name: 7 }, 'params.name must be text'],
    ['tools/call', { name: 'check_status', arguments: 'x' }, 'params.arguments must be an object'],
  ])('answers %s with params %j as invalid params, in words', async (method, params, words) => {
    const { id, error } = await tools.ask({ jsonrpc: '2.0', id: 'a', method, params })
    expect([id, error]).toEqual(['a', { code: -32602, message: `Invalid ${method} request: ${words}` }])
  })

  test('refuses an unknown method', async () => {
    expect((await tools.ask({ jsonrpc: '2.0', id: 1, method: 'resources/list' })).error.code).toBe(-32601)
  })

  test.each([
    ['{', 400, -32700],
    ['', 400, -32700],
    ['\uFEFF{}', 400, -32700],
    ['[]', 400, -32600],
    ['"x"', 400, -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"tools/list"}', 400, -32600],
    [`{"a":${'['.repeat(40)}${']'.repeat(40)}}`, 400, -32700],
  ])('refuses the body %o with %i', async (body, status, code) => {
    const response = await tools.send(body)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code } })
  })

  test('reads at most a mebibyte', async () => {
    const response = await tools.send(`"${'x'.repeat(1024 * 1024)}"`)
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ error: { code: -32000 } })
  })

  test('accepts JSON only', async () => {
    const response = await tools.send('{}', { headers: { 'content-type': 'text/plain' } })
    expect(response.status).toBe(415)
    expect(await response.json()).toMatchObject({ error: { code: -32000 } })
  })
})
