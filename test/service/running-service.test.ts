import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { request } from 'node:https'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { selfSigned } from '../certificate.ts'
import type { RunningService } from '../../src/service/serve.ts'
import { type Listed, ask, folder, installHooks, portOf, start } from './started.ts'

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

describe('a running service', () => {
  test('finishes what is under way when it is stopped, and takes nothing new', async () => {
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

  test('answers bytes that are no HTTP in the envelope', async () => {
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
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    const made = selfSigned()
    writeFileSync(cert, made.cert)
    writeFileSync(key, made.key)
    const service = await start({ tlsCert: cert, tlsKey: key })
    expect(service.baseUrl).toMatch(/^https:/)
    const status = await new Promise((resolve, reject) => {
      request(service.healthUrl, { rejectUnauthorized: false }, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBe(200)
    await service.stop()
    await expect(start({ tlsCert: cert, tlsKey: cert })).rejects.toMatchObject({ code: 'tls_unusable' })
  })
})
