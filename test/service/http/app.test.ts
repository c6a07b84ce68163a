import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    handlers: {
      listAuthCodes: async () => {
        throw new Error('the password is hunter2')
      },
      deleteAuthCode: async () => undefined,
    },
  })
})
afterAll(() => service.close())

describe('what needs no key', () => {
  test('health shows the transport and that repeats are supported', async () => {
    const { status, body, headers } = await service.call('GET', '/health', { key: null })
    expect(status).toBe(200)
    expect(body).toEqual({ ok: true, transport: 'http' })
    expect(headers).toMatchObject({ 'svc-idempotency': '24h', 'cache-control': 'no-store' })
  })

  test('the public keys contain no private part', async () => {
    const { body } = await service.call('GET', '/.well-known/jwks.json', { key: null })
    expect(body.keys).toEqual([
      expect.objectContaining({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', kid: expect.any(String) }),
    ])
    expect(body.keys[0]).not.toHaveProperty('d')
  })

  test('the contract is there', async () => {
    const { body } = await service.call('GET', '/openapi.json', { key: null })
    expect(body.openapi).toBe('3.1.0')
  })

  test('the contract is the same file for everybody, and is not sent again to a client that has it', async () => {
    const [one, two] = await Promise.all([
      service.call('GET', '/openapi.json', { key: null }),
      service.call('GET', '/openapi.json', { key: null }),
    ])
    const { etag } = one.headers
    expect(etag).toMatch(/^W\/".+"$/)
    expect(two.headers.etag).toBe(etag)
    expect(one.headers['cache-control']).toBe('no-cache')
    const headers = { 'if-none-match': etag! }
    const again = await service.call('GET', '/openapi.json', { key: null, headers })
    expect([again.status, again.body]).toEqual([304, undefined])
  })
})

describe('routes', () => {
  test('a route that does not exist is 404 in the envelope', async () => {
    const { status, body } = await service.call('GET', '/nowhere')
    expect(status).toBe(404)
    expect(body).toMatchObject({ status: 'error', data: { code: 'no_such_route' } })
  })

  test('another method on a known path is 405 with the allowed methods', async () => {
    const { status, body, headers } = await service.call('PATCH', '/organizations')
    expect(status).toBe(405)
    expect(headers.allow).toBe('GET, HEAD, OPTIONS')
    expect(body).toMatchObject({ status: 'error', data: { code: 'method_not_allowed' } })
  })

  test('OPTIONS lists the allowed methods, and nothing for other origins', async () => {
    const { status, headers } = await service.call('OPTIONS', '/make-admin', { key: null })
    expect(status).toBe(204)
    expect(headers.allow).toBe('POST, OPTIONS')
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('HEAD answers as GET does, without the body', async () => {
    const { status, body, headers } = await service.call('HEAD', '/organizations')
    expect(status).toBe(200)
    expect(body).toBeUndefined()
    expect(headers['content-type']).toContain('application/json')
  })

  test('a word of a path wins over a value in its place', async () => {
    const { status, body } = await service.call('POST', '/organization/create/onboarding', { body: {} })
    expect(status).toBe(422)
    expect(body.data.issues.map((issue: { field: string }) => issue.field)).toContain('first_name')
  })
})

describe('answers', () => {
  test('each has its own id and must not be cached', async () => {
    const [one, two] = [await service.call('GET', '/organizations'), await service.call('GET', '/nowhere')]
    expect(one.headers['x-request-id']).toMatch(/^req_/)
    expect(two.headers['x-request-id']).not.toBe(one.headers['x-request-id'])
    expect(two.headers['cache-control']).toBe('no-store')
  })

  test('an internal error is 500 without details; the log has them under the same id', async () => {
    await service.call('POST', '/organization/create', { body: { name: 'Inside' } })
    const { status, body, headers } = await service.call('GET', '/organization/1/get-org-auth-codes')
    expect(status).toBe(500)
    expect(body.data.code).toBe('internal_error')
    expect(JSON.stringify(body)).not.toContain('hunter2')
    const record = service.log.find((one) => one.request_id === headers['x-request-id'])
    expect(record).toMatchObject({ level: 'error', status: 500, error: expect.stringContaining('hunter2') })
  })

  test('a write without an audit row is 500', async () => {
    const { status } = await service.call('DELETE', '/organization/1/delete/auth-code/1')
    expect(status).toBe(500)
  })

  test('logs a probe only when its answer changes', async () => {
    const probe = (headers = {}) => service.call('GET', '/health/ready', { key: null, headers })
    await probe()
    const before = service.log.length
    for (const host of [undefined, undefined, 'elsewhere.example', 'elsewhere.example', undefined])
      await probe(host && { host })
    expect(service.log.slice(before).map(({ status }) => status)).toEqual([403, 200])
  })

  test('logs a request with its route and the name of its key, never with values of its URL', async () => {
    await service.call('GET', '/organization/canary-in-path')
    const record = service.log.at(-1)!
    expect(record).toMatchObject({
      method: 'GET',
      route: '/admin/public/api/organization/:orgIdOrSlug',
      status: 404,
      key: 'operator',
    })
    expect(JSON.stringify(service.log)).not.toContain('canary-in-path')
    expect(JSON.stringify(service.log)).not.toContain(service.operatorKey)
  })
})

describe('callers', () => {
  test.each([
    ['no key', null],
    ['a wrong key', 'svc_op_00000000_nope'],
    ['an empty key', ''],
    ['a very long key', 'x'.repeat(10_000)],
  ])('%s is 401', async (_, key) => {
    const { status, body } = await service.call('GET', '/organizations', { key })
    expect(status).toBe(401)
    expect(body).toMatchObject({ status: 'error', data: { code: 'unauthenticated' } })
  })

  test('the key with one character changed is 401', async () => {
    const last = service.operatorKey.at(-1) === 'A' ? 'B' : 'A'
    const { status } = await service.call('GET', '/organizations', {
      key: service.operatorKey.slice(0, -1) + last,
    })
    expect(status).toBe(401)
  })

  test('reports a wrong key before it reads the body', async () => {
    const { status } = await service.call('POST', '/organization/create', { key: 'wrong', body: '{not json' })
    expect(status).toBe(401)
  })
})
