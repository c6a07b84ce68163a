import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createFakeGateway, type FakeGateway } from './fake-gateway.ts'
import { call, modern, startTools } from './http-tools.ts'

const ask = { action: 'deploy', approver_mobile: '+12025550101' }
let fake: FakeGateway
let tools: ReturnType<typeof startTools>

beforeEach(() => {
  fake = createFakeGateway()
  tools = startTools({ gatewayFor: () => fake.gateway })
})
afterEach(() => tools.close())

const initialize = (protocolVersion: string, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'robot', version: '1' } },
})

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

const introduced = async (clientInfo: object): Promise<string | undefined> => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const { headers } = await tools.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  const session = { 'mcp-session-id': headers.get('mcp-session-id')! }
  await tools.send(call('request_approval_async', ask), { headers: session })
  return fake.asks.at(-1)?.requester
}

describe('the name that a client claims', () => {
  test.each([
    [{ name: 'claude-code', title: 'Claude Code', version: '1' }, 'Claude Code'],
    [{ name: 'claude-code', version: '1' }, 'claude-code'],
    [{ name: 'x', title: ' a\nb\u202ec ', version: '1' }, 'a b\\u{202e}c'],
    [{ name: '🚀'.repeat(100), version: '1' }, '🚀'.repeat(80)],
    [{ name: ' ', version: '1' }, undefined],
  ])('reaches the approver from older clients too: %j', async (clientInfo, requester) => {
    expect(await introduced(clientInfo)).toEqual(requester)
  })

  test('is made safe in a forged session id', async () => {
    const made = Buffer.from(JSON.stringify([null, `x\u202e${'y'.repeat(300)}`])).toString('base64url')
    await tools.send(call('request_approval_async', ask), { headers: { 'mcp-session-id': `a.${made}` } })
    expect(fake.asks.at(-1)?.requester).toBe(`x\\u{202e}${'y'.repeat(71)}`)
  })

  test.each(['x', 'a.b', `a.${Buffer.from('{}').toString('base64url')}`, `a.${'x'.repeat(2000)}`])(
    'is unknown in a session id that we did not make: %s',
    async (session) => {
      await tools.send(call('request_approval_async', ask), { headers: { 'mcp-session-id': session } })
      expect(fake.asks.at(-1)?.requester).toBeUndefined()
    },
  )
})

describe('the format of an answer', () => {
  test.each(['older', '2026-07-28'])(
    'as a stream that opens at once while a person is asked (%s)',
    async (era) => {
      const one = modern('tools/call', { name: 'request_approval', arguments: ask })
      const response = await (era === 'older'
        ? tools.send(call('request_approval', ask))
        : tools.send(one.body, { headers: one.headers }))
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      const reader = response.body!.getReader()
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(': open\n\n')
      await reader.cancel()
    },
  )

  test.each(['*/*', undefined, 'text/plain, */*'])('is JSON for a client that accepts %s', async (accept) => {
    const headers = { accept: accept as string }
    const quick = await tools.send(call('request_approval_async', ask), { headers })
    expect(await quick.json()).toMatchObject({ result: { structuredContent: { status: 'pending' } } })
    const asked = fake.nextAsk()
    const slow = await tools.send(call('request_approval', { ...ask, action: 'other' }), { headers })
    expect(slow.headers.get('content-type')).toBe('application/json')
    await asked
    fake.end('apr_2', { status: 'approved' })
    expect(await slow.json()).toMatchObject({ result: { structuredContent: { status: 'approved' } } })
  })

  test('is plain JSON for an older client that did not request progress', async () => {
    const response = await tools.send(call('request_approval_async', ask))
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-request-id')).toBe('req_1')
  })

  test.each(['older', '2026-07-28'])('is a stream for a client (%s) that did', async (era) => {
    const params = { _meta: { progressToken: 'p' } }
    const asked = fake.nextAsk()
    const one = modern('tools/call', { name: 'request_approval', arguments: ask, ...params })
    const sent =
      era === 'older'
        ? tools.send(call('request_approval', ask, params))
        : tools.send(one.body, { headers: one.headers })
    await asked
    setImmediate(() => fake.end('apr_1', { status: 'approved' }))
    const response = await sent
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(await response.text()).toMatch(/notifications\/progress[^]*"status":"approved"/)
  })
})

const session = async (): Promise<Record<string, string>> => {
  const response = await tools.send(initialize('2025-11-25'))
  return { 'mcp-session-id': response.headers.get('mcp-session-id')! }
}
const cancel = (requestId: unknown, headers: Record<string, string>) =>
  tools.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, { headers })

describe('an abandoned call', () => {
  test('is withdrawn if an older client cancels it', async () => {
    const headers = await session()
    const asked = fake.nextAsk()
    const answer = await tools.send(call('request_approval', ask, {}, 5), { headers })
    await asked
    await new Promise(setImmediate)
    expect((await cancel(5, headers)).status).toBe(202)
    expect(await answer.text()).not.toContain('data:')
    expect(fake.cancelled).toEqual(['apr_1'])
  })

  test('sends no answer to a client that cancels and accepts no stream', async () => {
    const headers = { ...(await session()), accept: '*/*' }
    const asked = fake.nextAsk()
    const answer = tools.send(call('request_approval', ask, {}, 5), { headers })
    await asked
    await new Promise(setImmediate)
    await cancel(5, headers)
    expect((await (await answer).text()).trim()).toBe('')
    expect(fake.cancelled).toEqual(['apr_1'])
  })

  test('is not withdrawn by another id, type of id, or session', async () => {
    const headers = await session()
    const asked = fake.nextAsk()
    const answer = tools.ask(call('request_approval', ask, {}, 5), { headers })
    await asked
    await new Promise(setImmediate)
    await cancel(6, headers)
    await cancel('5', headers)
    await cancel(undefined, headers)
    await cancel(5, await session())
    await cancel(5, {})
    expect(fake.cancelled).toEqual([])
    fake.end('apr_1', { status: 'approved' })
    expect((await answer).result.structuredContent.status).toBe('approved')
  })

  test('is not withdrawn if two calls cannot be distinguished', async () => {
    const answers = []
    for (let i = 0; i < 2; i++) {
      const asked = fake.nextAsk()
      answers.push(tools.send(call('request_approval', { ...ask, action: `deploy ${i}` }, {}, 1)))
      await asked
    }
    await new Promise(setImmediate)
    await cancel(1, {})
    expect(fake.cancelled).toEqual([])
    fake.end('apr_1', { status: 'denied' })
    await (await answers[0]!).text()
    await new Promise(setImmediate)
    await cancel(1, {})
    await (await answers[1]!).text()
    expect(fake.cancelled).toEqual(['apr_2'])
  })

  test('is withdrawn shortly after an older client disconnects', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const gone = new AbortController()
      const asked = fake.nextAsk()
      const answer = tools.send(call('request_approval', ask), { signal: gone.signal })
      await asked
      await new Promise(setImmediate)
      gone.abort()
      await vi.advanceTimersByTimeAsync(2_900)
      expect(fake.cancelled).toEqual([])
      await vi.advanceTimersByTimeAsync(200)
      expect(fake.cancelled).toEqual(['apr_1'])
      await answer
    } finally {
      vi.useRealTimers()
    }
  })

  test('is withdrawn when a client of 2026-07-28 closes the stream', async () => {
    const gone = new AbortController()
    const { body, headers } = modern('tools/call', { name: 'request_approval', arguments: ask })
    const asked = fake.nextAsk()
    const answer = tools.send(body, { headers, signal: gone.signal }).catch(() => undefined)
    await asked
    await new Promise(setImmediate)
    gone.abort()
    await answer
    await new Promise(setImmediate)
    expect(fake.cancelled).toEqual(['apr_1'])
  })

  test.each(['older', '2026-07-28'])('is withdrawn when the service stops (%s)', async (era) => {
    const { body, headers } = modern('tools/call', { name: 'request_approval', arguments: ask })
    const asked = fake.nextAsk()
    const answer = era === 'older' ? tools.send(call('request_approval', ask)) : tools.send(body, { headers })
    await asked
    await new Promise(setImmediate)
    await tools.close()
    expect(fake.cancelled).toEqual(['apr_1'])
    await answer.catch(() => undefined)
  })

  test('leaves nothing pending if it was asynchronous', async () => {
    await tools.ask(call('request_approval_async', ask))
    await tools.close()
    expect(fake.cancelled).toEqual([])
  })
})
