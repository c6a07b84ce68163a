import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { request } from 'node:https'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { selfSigned } from '../../certificate.ts'
import type { RunningService } from '../../../src/service/lifecycle/serve.ts'
import { type Listed, ask, folder, installHooks, portOf, start } from '../started.ts'

installHooks()

/** What comes back for bytes as they are. */
const raw = (service: RunningService, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = createConnection(portOf(service), '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => (text += chunk))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })

const startTls = (publicUrl?: string): Promise<RunningService> => {
  const [tlsCert, tlsKey] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const made = selfSigned()
  writeFileSync(tlsCert, made.cert)
  writeFileSync(tlsKey, made.key)
  return start({ tlsCert, tlsKey, publicUrl })
}
const overTls = (service: RunningService): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(service.healthUrl, { rejectUnauthorized: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end()
  })

test.each([
  ['https://svc.example.com', 'max-age=31536000'],
  ['https://svc.example.com:8443', null],
  ['https://localhost', null],
  ['http://svc.example.com', null],
  [undefined, null],
])('at %s its answers say %s of https', async (publicUrl, expected) => {
  const service = await start({ publicUrl })
  for (const path of ['/health', '/approver', '/nothing']) {
    const { headers } = await fetch(new URL(path, service.healthUrl), { redirect: 'manual' })
    expect(headers.get('strict-transport-security')).toBe(expected)
  }
})

describe('a running service', () => {
  test('finishes the requests in progress when it stops, and accepts no new ones', async () => {
    const service = await start()
    const body = '{"name":"Under way"}'
    const head = [
      'POST /admin/public/api/organization/create HTTP/1.1',
      `Host: 127.0.0.1:${portOf(service)}`,
      `x-api-key: ${service.operatorKey}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      'expect: 100-continue',
    ]
    const socket = createConnection(portOf(service), '127.0.0.1')
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    const [goOn] = await once(socket, 'data')
    expect(String(goOn)).toContain('100 Continue')
    const stopped = service.stop()
    await expect(fetch(service.healthUrl)).rejects.toThrow('fetch failed')
    socket.write(body)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
    await stopped
    const again = await start()
    const { data } = (await (await ask(again, '/organizations', service.operatorKey!)).json()) as Listed
    expect(data).toHaveLength(1)
  })

  test('responds with the envelope to bytes that are not HTTP', async () => {
    const text = await raw(await start(), 'HELLO\r\n\r\n')
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(JSON.parse(text.split('\r\n\r\n')[1]!)).toMatchObject({
      status: 'error',
      data: { code: 'malformed' },
    })
  })

  test('answers headers that are too large in the envelope', async () => {
    const text = await raw(
      await start(),
      `GET /health HTTP/1.1\r\nHost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    )
    expect(text).toMatch(/^HTTP\/1\.1 431 /)
  })

  test('answers a wrong key before the body has arrived', async () => {
    const service = await start()
    const head = [
      'POST /admin/public/api/organization/create HTTP/1.1',
      `Host: 127.0.0.1:${portOf(service)}`,
      'x-api-key: wrong',
      'content-type: application/json',
      'content-length: 500000',
      'connection: close',
    ]
    expect(await raw(service, `${head.join('\r\n')}\r\n\r\n{`)).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('speaks TLS with a certificate and its key', async () => {
    const service = await startTls()
    expect(service.baseUrl).toMatch(/^https:/)
    expect(await overTls(service)).toBe(200)
    await service.stop()
    const cert = join(folder, 'cert.pem')
    await expect(start({ tlsCert: cert, tlsKey: cert })).rejects.toMatchObject({ code: 'tls_unusable' })
  })

  test('sends plain HTTP on its TLS port to https, and uses nothing of the request', async () => {
    const service = await startTls()
    const host = `svc.example.com:${portOf(service)}`
    const path = '/admin/public/api/organization/create?x=1'
    const sent = `host: ${host}\r\nx-api-key: ${service.operatorKey}\r\ncontent-length: 14\r\n`
    for (const more of ['', 'expect: 100-continue\r\n']) {
      const answer = await raw(service, `POST ${path} HTTP/1.1\r\n${sent}${more}\r\n{"name":"Acme"}`)
      expect(answer).toMatch(/^HTTP\/1\.1 301 /)
      expect(answer).toContain(`\r\nlocation: https://${host}${path}\r\n`)
      expect(answer).toMatch(/\r\nconnection: close\r\n/i)
    }
    expect(await overTls(service)).toBe(200)
    await service.stop()
    const again = await start()
    const { data } = (await (await ask(again, '/organizations', service.operatorKey!)).json()) as Listed
    expect(data).toEqual([])
  })

  test.each(['/admin?x=1', '//evil.example/x'])(
    'sends plain HTTP for %s to its public address, whatever host it names',
    async (path) => {
      const service = await startTls('https://svc.example.com:8443')
      const answer = await raw(service, `GET ${path} HTTP/1.1\r\nHost: evil.example\r\n\r\n`)
      expect(answer).toContain(`\r\nlocation: https://svc.example.com:8443${path}\r\n`)
    },
  )

  test.each([
    ['no host', 'GET / HTTP/1.0\r\n\r\n'],
    ['a host that ends elsewhere', 'GET / HTTP/1.1\r\nHost: a.example/x?\r\n\r\n'],
    ['a host with a name in it', 'GET / HTTP/1.1\r\nHost: user@a.example\r\n\r\n'],
    ['another form of address', 'GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n'],
    ['a first line that is none', 'HELLO\r\n\r\n'],
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: a.example\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`],
  ])('does not redirect from its TLS port for %s', async (_, bytes) => {
    const answer = await raw(await startTls(), bytes)
    expect(answer).toMatch(/^HTTP\/1\.1 4(?:00|31) /)
    expect(answer).not.toMatch(/location:/i)
  })

  test('stops immediately despite silent connections to its TLS port', async () => {
    const service = await startTls()
    const socket = createConnection(portOf(service), '127.0.0.1')
    await once(socket, 'connect')
    expect(await overTls(service)).toBe(200)
    const closed = once(socket.resume(), 'close')
    await service.stop()
    await closed
  })

  test('accepts a request without a body and content type', async () => {
    const key = `svc_op_${'k'.repeat(43)}`
    const service = await start({ env: { SVC_BOOTSTRAP_API_KEY: key } })
    const create = { method: 'POST', body: '{"name":"Acme","slug":"acme"}' }
    expect((await ask(service, '/organization/create', key, create)).status).toBe(200)
    const bare = (method: string, path: string) =>
      fetch(service.baseUrl + path, { method, headers: { 'x-api-key': key, connection: 'close' } })
    expect((await bare('POST', '/organization/1/create/auth-code')).status).toBe(422)
    expect((await bare('DELETE', '/organization/1/delete')).status).toBe(200)
  })
})
