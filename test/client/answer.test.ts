import { expect, test } from 'vitest'
import { org } from '../../src/contract/org.ts'
import { pendingUser } from '../../src/contract/pending-user.ts'
import { user } from '../../src/contract/user.ts'
import { json, page, text } from '../fake-hosted.ts'
import { failure, secretKey, withHosted } from './hosted.ts'

const list = org.listOrganizations

test('a response is returned unchanged, with unknown fields', async () => {
  const { client } = await withHosted()
  const { envelope, httpStatus } = await client.call(list, {})
  expect(httpStatus).toBe(200)
  expect(envelope).toEqual({
    status: 'success',
    message: 'OK',
    data: [
      { name: 'Acme', slug: 'acme', plan: 'gold' },
      { name: 'Globex', slug: 'globex', plan: 'free' },
    ],
    traceId: 'T-1',
    meta: { region: 'eu' },
  })
})

test('a request has the key, JSON, and each input in its place', async () => {
  const { client, service } = await withHosted()
  await client.call(user.listUsers, { org_id: 3, state: 'active' }, { extra: { odd: 'a b' } })
  await client.call(pendingUser.acceptUser, { org_id: 3, user_id: '7' }, { extra: { note: { a: [1] } } })
  expect(service.seen.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['GET', '/admin/public/api/organization/3/users?state=active&odd=a+b', ''],
    ['POST', '/admin/public/api/organization/3/user/7/accept', '{"note":{"a":[1]}}'],
  ])
  for (const { headers } of service.seen)
    expect(headers).toMatchObject({ 'x-api-key': secretKey, 'content-type': 'application/json' })
})

test.each([
  ['a web page', page(), 'web page'],
  ['a web page with 404', page(404), 'web page'],
  ['nothing', text(200, ''), 'empty'],
  ['text', text(200, 'hello'), 'JSON with a status'],
  ['a list', json(200, []), 'JSON with a status'],
  ['null', json(200, null), 'JSON with a status'],
  ['a status that is not text', json(200, { status: 1 }), 'JSON with a status'],
  ['truncated JSON', text(200, '{"status":"success"'), 'JSON with a status'],
])('%s is an error that describes the response and the API root', async (_, answer, expected) => {
  const { client, service } = await withHosted()
  service.next(answer)
  const error = await failure(client.call(list, {}))
  expect(error.message).toContain(expected)
  expect(`${error.message} ${error.hint}`).toContain('/admin/public/api')
})

const haproxy =
  '<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n'

test.each([
  ['HAProxy without a node', 503, haproxy, /^127\.0\.0\.1:\d+ answered 503: the service is not available$/],
  [
    'nginx without a node',
    502,
    '<html><h1>502 Bad Gateway</h1>',
    /answered 502: the service is not available$/,
  ],
  ['nginx whose node is silent', 504, '<html>', /answered 504: the service is not available$/],
  ['a balancer with text', 503, 'no healthy upstream', /answered 503: the service is not available$/],
  ['a balancer with nothing', 503, '', /answered 503: the service is not available$/],
  ['a server that fails', 500, '<html>', /answered 500: the service, or a proxy in front of it, has failed$/],
])('%s does not make svc doubt the API root', async (_, status, body, message) => {
  const { client, service } = await withHosted()
  service.always(text(status, body))
  const error = await failure(client.call(list, {}))
  expect(error).toMatchObject({
    exit: 'failed',
    code: `http_${status}`,
    http_status: status,
    message: expect.stringMatching(message),
  })
  expect(error.hint).toMatch(/^Try again later\. /)
  expect(`${error.message} ${error.hint}`).not.toContain('API root')
  expect(service.seen).toHaveLength(status === 500 ? 1 : 3)
})

test('the Retry-After of a proxy is in the hint', async () => {
  const { client, service } = await withHosted()
  service.always(text(503, '<html>', { 'retry-after': '60' }))
  expect((await failure(client.call(list, {}))).hint).toMatch(/^Try again in 60 s\. /)
})

test.each([
  ['a network with a sign-in page, which says so', page(511), 'requires a sign-in'],
  [
    'a network with a sign-in page, which answers everything',
    page(200),
    'or that this network does not require a sign-in',
  ],
])('%s', async (_, answer, expected) => {
  const { client, service } = await withHosted()
  service.always(answer)
  expect((await failure(client.call(list, {}))).message).toContain(expected)
})

test.each([
  [200, 'failed', 'unexpected_answer'],
  [201, 'failed', 'unexpected_answer'],
  [400, 'refused', 'http_400'],
  [401, 'forbidden', 'http_401'],
  [403, 'forbidden', 'http_403'],
  [404, 'notFound', 'http_404'],
  [409, 'refused', 'http_409'],
  [410, 'expired', 'http_410'],
  [422, 'refused', 'http_422'],
  [500, 'failed', 'http_500'],
])('%i with a status other than success is never a success', async (status, exit, code) => {
  const { client, service } = await withHosted()
  service.next(json(status, { status: 'error', message: 'No.' }))
  expect(await failure(client.call(list, {}))).toMatchObject({ exit, code, message: 'No.' })
})

test('an error status is an error even if the envelope says success', async () => {
  const { client, service } = await withHosted()
  service.next(json(500, { status: 'success', message: 'odd' }))
  expect((await failure(client.call(list, {}))).exit).toBe('failed')
})

test('data.code takes precedence over the HTTP status, and the details of the service are reported', async () => {
  const { client, service } = await withHosted()
  const data = {
    code: 'denied',
    detail: 'by the approver',
    hint: 'ask again',
    issues: [{ field: 'name', message: 'is long' }, { nonsense: 1 }, null],
  }
  service.next(json(403, { status: 'error', message: 'Denied', data }, { 'x-request-id': 'req_1' }))
  expect(await failure(client.call(list, {}))).toMatchObject({
    exit: 'denied',
    code: 'denied',
    detail: 'by the approver',
    hint: 'ask again',
    issues: [{ field: 'name', message: 'is long' }],
    request_id: 'req_1',
  })
})

test.each([401, 403, 404, 429])('%i gets a hint if the service sends none', async (status) => {
  const { client, service } = await withHosted()
  service.always(json(status, { status: 'error', message: 'No.' }))
  expect((await failure(client.call(list, {}))).hint).toMatch(/svc |Try again/)
})

test('an unknown route is named, with the place where the routes are listed', async () => {
  const { client, service } = await withHosted()
  const data = { code: 'no_such_route', hint: 'for whoever builds requests' }
  service.next(json(404, { status: 'error', message: 'Route not found', data }))
  expect(await failure(client.call(list, {}))).toMatchObject({
    message: expect.stringMatching(/^127\.0\.0\.1:\d+ has no route \/admin\/public\/api\/organizations$/),
    hint: expect.stringMatching(/^The routes of this service are listed at http:\/\/127.*\/openapi\.json$/),
  })
})

test('a denial does not get the hint about keys', async () => {
  const { client, service } = await withHosted()
  service.next(json(403, { status: 'error', message: 'Denied', data: { code: 'denied' } }))
  expect((await failure(client.call(list, {}))).hint).toBeUndefined()
})

test('errors contain no control or invisible characters', async () => {
  const { client, service } = await withHosted()
  const bad = 'a\u001b[31m\u202eb\u200bc\u0000'
  const data = { code: bad, detail: bad, hint: bad, issues: [{ field: bad, message: bad }] }
  service.next(json(422, { status: bad, message: bad, data }))
  const { message, code, detail, hint, issues } = await failure(client.call(list, {}))
  const shown = [message, code, detail, hint, issues![0]!.field, issues![0]!.message].join('')
  expect(shown).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

test('nothing is sent without a key, and the hint explains how to set one', async () => {
  const { client, service } = await withHosted({
    apiKey: async () => undefined,
    keyHint: 'svc profile login prod',
  })
  const error = await failure(client.call(list, {}))
  expect(error).toMatchObject({ exit: 'forbidden', code: 'no_key' })
  expect(error.hint).toBe('svc profile login prod')
  expect(service.seen).toEqual([])
})

test('a raw request returns any response', async () => {
  const { client, service } = await withHosted()
  service.next(text(418, 'teapot'))
  const answer = await client.raw({ method: 'GET', path: '/svc/v1/keys', effect: 'read' })
  expect(answer).toMatchObject({ status: 418, body: 'teapot' })
  expect(service.seen[0]!.path).toBe('/svc/v1/keys')
})

test.each(['@evil.example/', '.evil.example/', ':1/x', '\\\\evil.example/x'])(
  'a raw path %s that could lead to another host is rejected',
  async (path) => {
    const { client, service } = await withHosted()
    const error = await failure(client.raw({ method: 'GET', path, effect: 'read' }))
    expect(error.exit).toBe('usage')
    expect(service.seen).toEqual([])
  },
)

test('debug lines name each request and response, without secrets', async () => {
  const { client, debugged, service } = await withHosted()
  service.next(json(200, { status: 'success', message: 'OK' }, { 'x-request-id': 'req_9' }))
  await client.raw({
    method: 'GET',
    path: '/save/faceauth/success/tok-canary?otp=123456&a=b',
    effect: 'notifies',
  })
  await client.call(list, {})
  expect(debugged).toEqual([
    `> GET ${service.baseUrl}/save/faceauth/success/***?otp=***&a=b`,
    '< 200 req_9',
    `> GET ${service.baseUrl}/organizations`,
    '< 200',
  ])
  expect(debugged.join()).not.toMatch(/canary/)
})
