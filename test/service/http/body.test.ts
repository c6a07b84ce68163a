import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shapeOf } from '../../../src/service/http/body.ts'
import { startTestService, type TestService } from '../harness.ts'

type Answered = { data: { code: string } }

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const create = (body: unknown, headers?: Record<string, string>) =>
  service.call('POST', '/organization/create', { body, headers })

const raw = (body: RequestInit['body'], headers: Record<string, string> = {}) =>
  service.app.request('http://127.0.0.1:8080/admin/public/api/organization/create', {
    method: 'POST',
    headers: { 'x-api-key': service.operatorKey, 'content-type': 'application/json', ...headers },
    body,
    duplex: 'half',
  } as RequestInit)

describe('a body that is not JSON', () => {
  test.each([
    ['broken', '{"name":'],
    ['with something after it', '{"name":"A"} {}'],
    ['with a byte order mark', '\uFEFF{"name":"A"}'],
    ['a list', '[]'],
    ['a text', '"name"'],
    ['null', 'null'],
    ['with a field __proto__', '{"name":"A","__proto__":{"x":1}}'],
    ['with a field __proto__ inside', '{"name":"A","policy":{"__proto__":{}}}'],
    ['nested too deep', `{"name":${'['.repeat(100)}${']'.repeat(100)}}`],
    ['nested 100,000 deep', `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('%s is 400', async (_, body) => {
    const { status, body: answer } = await create(body)
    expect(status).toBe(400)
    expect(answer).toMatchObject({ status: 'error', data: { code: 'malformed' } })
  })

  test('in another encoding is 400', async () => {
    const answer = await raw(Buffer.from('{"name":"caf\xe9"}', 'latin1'))
    expect(answer.status).toBe(400)
  })
})

test.each([[{}], [{ 'content-length': '1000' }]])(
  'a client that leaves while it sends, with %j, is no error of the service',
  async (headers) => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from('{"name":"A')),
      pull: (controller) => controller.error(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })),
    })
    const answer = await raw(body, { 'transfer-encoding': 'chunked', ...headers })
    expect([answer.status, ((await answer.json()) as Answered).data.code]).toEqual([400, 'incomplete_body'])
    expect(service.log.at(-1)).toMatchObject({ level: 'info', status: 400, error: undefined })
  },
)

describe('the media type', () => {
  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', ''])(
    '%j is 415',
    async (type) => {
      const { status, body } = await create('{"name":"A"}', { 'content-type': type })
      expect(status).toBe(415)
      expect(body.data.code).toBe('unsupported_media_type')
    },
  )

  test('accepts every spelling of JSON in UTF-8', async () => {
    const { status } = await create('{"name":"Spelled"}', {
      'content-type': 'Application/JSON; charset="UTF-8"',
    })
    expect(status).toBe(200)
  })

  test('a compressed body is 415', async () => {
    expect((await create('{"name":"A"}', { 'content-encoding': 'gzip' })).status).toBe(415)
  })
})

const bodyOf = (bytes: number): string => JSON.stringify({ token: 'x'.repeat(bytes - 12) })

const open = (path: string, body: unknown) => service.call('POST', path, { key: null, body })

describe('size', () => {
  test.each([
    ['POST', '/svc/v1/devices', 32],
    ['POST', '/svc/v1/approver/session', 32],
    ['POST', '/svc/v1/approvals/x/decide', 32],
    ['POST', '/organization/create', 256],
    ['PUT', '/user/1/geofences/update', 1024],
  ])('%s %s accepts up to %i KiB', async (method, path, kib) => {
    const key = path.startsWith('/svc/') ? null : undefined
    const send = (bytes: number) =>
      service.call(method, path, { key, body: bodyOf(bytes), headers: { 'sec-fetch-site': 'same-origin' } })
    expect((await send(kib * 1024)).status).not.toBe(413)
    const { status, body: answer } = await send(kib * 1024 + 1)
    expect([status, answer.data.code]).toEqual([413, 'too_large'])
    expect(answer.message).toBe(`The body is larger than ${kib} KiB, the limit of this route`)
  })

  test.each([
    ['/svc/v1/devices', '[]', 1_000],
    ['/svc/v1/devices', '1', 1_000],
    ['/svc/v1/devices', '{}', 1_000],
  ])('%s rejects a body of %s with more than %i values', async (path, value, most) => {
    const { status, body } = await open(path, `{"response":[${`${value},`.repeat(most)}${value}]}`)
    expect([status, body.data.code]).toEqual([413, 'too_large'])
    expect(body.message).toBe(`The body contains more than ${most} values, the limit of this route`)
  })

  test('punctuation inside a text is not a value', async () => {
    const { status } = await create({ name: '[{,'.repeat(30), slug: 'punctuation' })
    expect(status).toBe(200)
    expect((await create({ name: ',\\"['.repeat(9_000) })).status).toBe(422)
  })

  test('more than 1 MiB is 413, by what is announced', async () => {
    const { status, body } = await create('{}', { 'content-length': '2000000' })
    expect(status).toBe(413)
    expect(body.data.code).toBe('too_large')
  })

  test('more than 1 MiB is 413, by what arrives, and the rest is not read', async () => {
    let sent = 0
    const endless = new ReadableStream({
      pull: (controller) => {
        sent += 1
        controller.enqueue(new Uint8Array(64 * 1024))
      },
    })
    const answer = await raw(endless, { 'transfer-encoding': 'chunked' })
    expect(answer.status).toBe(413)
    expect(sent).toBeLessThan(30)
  })

  test('a write without a body takes its values from the URL', async () => {
    const { status, body } = await service.call('POST', '/organization/1/user/1/accept', { headers: {} })
    expect(status).toBe(404)
    expect(body.data.code).toBe('not_found')
  })

  test('accepts an empty object as the body of DELETE', async () => {
    const path = '/organization/1/delete/geo-fence/1'
    expect((await service.call('DELETE', path, { body: {} })).status).toBe(404)
    const { status, body } = await service.call('DELETE', path, { body: { id: 1 } })
    expect([status, body.message]).toEqual([400, 'DELETE does not accept a body'])
    expect((await service.call('DELETE', path, { body: [] })).status).toBe(400)
  })

  test('a body on a GET is 400', async () => {
    const { status } = await service.call('GET', '/organizations', { headers: { 'content-length': '2' } })
    expect(status).toBe(400)
  })
})

const shape = (text: string) => shapeOf(new TextEncoder().encode(text))

/** What a parser finds. */
const found = (value: unknown): { values: number; depth: number } => {
  if (typeof value !== 'object' || value === null) return { values: 1, depth: 0 }
  const inner = Object.values(value).map(found)
  return {
    values: inner.reduce((sum, { values }) => sum + values, 1),
    depth: 1 + inner.reduce((most, { depth }) => Math.max(most, depth), 0),
  }
}

describe('the shape of JSON', () => {
  test.each([
    ['1', 1, 0],
    ['"[{,"', 1, 0],
    ['"\\"[,"', 1, 0],
    ['"\\\\"', 1, 0],
    ['[1,2,3]', 4, 1],
    ['{"a":{"b":[1]}}', 4, 3],
  ])('%s has %i values and %i levels', (text, values, depth) => {
    expect(shape(text)).toEqual({ values, depth })
  })

  test('finds the depth of a parser, and no fewer values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, wide) => {
        const text = JSON.stringify(value, null, wide ? 2 : undefined)
        const parsed = found(JSON.parse(text))
        const { values, depth } = shape(text)
        expect(depth).toBe(parsed.depth)
        expect(values).toBeGreaterThanOrEqual(parsed.values)
        expect(values).toBeLessThanOrEqual(2 * parsed.values)
      }),
    )
  })
})
