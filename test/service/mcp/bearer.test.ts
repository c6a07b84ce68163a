import { afterEach, describe, expect, test } from 'vitest'
import { Refusal } from '../../../src/core/refusal.ts'
import type { Caller } from '../../../src/service/call/caller.ts'
import type { Rate } from '../../../src/service/call/service.ts'
import { allScopes } from '../all-scopes.ts'
import { createFakeGateway } from '../../tools/fake-gateway.ts'
import { call, startTools } from './http-tools.ts'

const token = 'the-bearer-of-the-operator-32-characters'
const orgKey = 'svc_org_0123abcd_organization'
const operatorKey = 'svc_op_0123abcd_operator'
const askKey = 'svc_op_89abcdef_ask'
const readKey = 'svc_org_89abcdef_read'
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

const started: ReturnType<typeof startTools>[] = []
afterEach(() => Promise.all(started.splice(0).map((tools) => tools.close())))

const start = (options: { token?: string; localOnly?: boolean; rate?: Rate['count'] } = {}) => {
  const callers: Caller[] = []
  const { gateway } = createFakeGateway()
  const tools = startTools({
    ...options,
    keys: {
      [orgKey]: { keyId: 7, name: 'acme', orgId: 3, scopes: allScopes },
      [operatorKey]: { keyId: 1, name: 'operator', orgId: null, scopes: allScopes },
      [askKey]: { keyId: 2, name: 'agents', orgId: null, scopes: new Set(['ask']) },
      [readKey]: { keyId: 8, name: 'dashboard', orgId: 3, scopes: new Set(['read', 'rules']) },
    },
    gatewayFor: (caller) => {
      callers.push(caller)
      return gateway
    },
  })
  started.push(tools)
  const send = (
    headers: Record<string, string>,
    socket?: { remoteAddress?: string | undefined; localPort?: number },
  ) => tools.send(list, { headers, socket })
  return { tools, callers, send }
}

const wrong: [string, Record<string, string>][] = [
  ['none', {}],
  ['an empty header', { authorization: '' }],
  ['the scheme alone', { authorization: 'Bearer' }],
  ['the scheme and a space', { authorization: 'Bearer ' }],
  ['no scheme', { authorization: token }],
  ['another scheme', { authorization: `Basic ${btoa(`x:${token}`)}` }],
  ['a part of it', { authorization: `Bearer ${token.slice(0, -1)}` }],
  ['more than it', { authorization: `Bearer ${token}x` }],
  ['two in one header', { authorization: `Bearer ${token}, Bearer ${token}` }],
  ['two spaces', { authorization: `Bearer  ${token}` }],
  ['another case', { authorization: `Bearer ${token.toUpperCase()}` }],
  ['a key of nobody', { authorization: 'Bearer svc_org_ffffffff_nobody' }],
  ['the bearer as an API key', { 'x-api-key': token }],
  ['something endless', { authorization: `Bearer ${'x'.repeat(8000)}` }],
]

describe('with MCP_AUTH_TOKEN', () => {
  test.each(wrong)('answers 401 to %s', async (_, headers) => {
    const { send, callers } = start({ token })
    const response = await send(headers)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer(?: error="invalid_token")?$/)
    const body = await response.text()
    expect(JSON.parse(body)).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32001, message: expect.any(String) },
    })
    expect(body).not.toContain(token)
    expect(callers).toEqual([])
  })

  test.each([`Bearer ${token}`, `bearer ${token}`])(
    'lets %.10s… ask in every organization',
    async (authorization) => {
      const { send, callers } = start({ token })
      expect((await send({ authorization })).status).toBe(200)
      expect(callers).toMatchObject([{ orgId: null, scopes: new Set(['ask']) }])
    },
  )

  test('accepts the key of an organization for that organization', async () => {
    const { send, callers } = start({ token })
    expect((await send({ authorization: `Bearer ${orgKey}` })).status).toBe(200)
    expect(callers).toEqual([expect.objectContaining({ keyId: 7, orgId: 3, scopes: allScopes })])
  })

  test('accepts a key of the whole service that can ask', async () => {
    const { send, callers } = start({ token })
    expect((await send({ authorization: `Bearer ${askKey}` })).status).toBe(200)
    expect(callers).toMatchObject([{ keyId: 2, orgId: null, scopes: new Set(['ask']) }])
  })

  test.each([
    [
      'a key that cannot ask',
      readKey,
      'This key cannot do that: it requires the scope "ask". This key has the scopes: read,rules. To create another key: svc key create --can ask',
    ],
    [
      'an operator key',
      operatorKey,
      'An operator key cannot be used as a bearer token. Use a key that can only ask: svc key create --can ask',
    ],
  ])('tells a client with %s why it is refused', async (_, key, message) => {
    const { send, callers } = start({ token })
    const response = await send({ authorization: `Bearer ${key}` })
    expect(response.status).toBe(403)
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: null, error: { code: -32003, message } })
    expect(callers).toEqual([])
  })

  test('identifies the caller before it reads the body', async () => {
    const { tools } = start({ token })
    const response = await tools.send('{ this is no JSON')
    expect(response.status).toBe(401)
  })
})

describe('without MCP_AUTH_TOKEN', () => {
  test('accepts calls from this machine without one', async () => {
    const { send, callers } = start()
    expect((await send({})).status).toBe(200)
    expect(callers).toMatchObject([{ orgId: null, scopes: new Set(['ask']) }])
  })

  test.each(wrong.slice(1).filter(([, headers]) => 'authorization' in headers))(
    'still answers 401 to %s',
    async (_, headers) => {
      expect((await start().send(headers)).status).toBe(401)
    },
  )

  test('labels it as unauthenticated', async () => {
    const { send, callers } = start()
    await send({})
    expect(callers).toMatchObject([{ keyId: 0, name: 'unauthenticated local program' }])
  })

  test.each([
    'x-forwarded-for',
    'forwarded',
    'x-forwarded-host',
    'X-Forwarded-Proto',
    'x-real-ip',
    'via',
    'cf-connecting-ip',
    'x-envoy-external-address',
    'true-client-ip',
    'x-original-url',
  ])('requires one when %s shows a proxy', async (name) => {
    expect((await start().send({ [name]: '203.0.113.7' })).status).toBe(401)
  })

  test.each(['127.0.0.1:8080', 'localhost:8080', '[::1]:8080', 'svc.localhost:8080'])(
    'needs none for the host %s',
    async (host) => {
      expect((await start().send({ host })).status).toBe(200)
    },
  )

  test.each([
    'svc.example.com',
    'svc.example.com:8080',
    '127.0.0.1:9000',
    'localhost',
    '127.0.0.1.evil.test:8080',
    '',
  ])('requires one for the host "%s", which a forward or a proxy preserved', async (host) => {
    expect((await start().send({ host })).status).toBe(401)
  })

  test.each(['192.0.2.7', '::ffff:192.0.2.7', undefined])(
    'requires one from the peer %s',
    async (remoteAddress) => {
      expect((await start().send({}, { remoteAddress, localPort: 8080 })).status).toBe(401)
    },
  )

  test.each(['127.0.0.2', '::1', '::ffff:127.0.0.1'])(
    'needs none from the peer %s',
    async (remoteAddress) => {
      expect((await start().send({}, { remoteAddress, localPort: 8080 })).status).toBe(200)
    },
  )

  test('requires one if other machines can reach the service', async () => {
    expect((await start({ localOnly: false }).send({})).status).toBe(401)
  })
})

test('a cancel of one organization does not reach the call of another', async () => {
  const fake = createFakeGateway()
  const tools = startTools({
    token,
    keys: { [orgKey]: { keyId: 7, name: 'acme', orgId: 3, scopes: allScopes } },
    gatewayFor: () => fake.gateway,
  })
  started.push(tools)
  const requested = fake.nextAsk()
  const answer = tools.ask(call('request_approval', { action: 'a', approver_mobile: '+12025550101' }), {
    headers: { authorization: `Bearer ${token}` },
  })
  await requested
  await new Promise(setImmediate)
  await tools.send(
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { headers: { authorization: `Bearer ${orgKey}` } },
  )
  expect(fake.withdrawn).toEqual([])
  fake.end('apr_1', { status: 'denied' })
  expect((await answer).result.structuredContent.status).toBe('denied')
})

test('a key over its rate limit is told when it can call again', async () => {
  const { send, callers } = start({
    rate: () => {
      throw new Refusal(429, 'rate_limited', 'Too many', { headers: { 'retry-after': '1' } })
    },
  })
  const response = await send({ authorization: `Bearer ${orgKey}` })
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
  expect(callers).toEqual([])
})
