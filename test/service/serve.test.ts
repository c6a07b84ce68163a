import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createConnection, createServer, type AddressInfo } from 'node:net'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { selfSigned } from '../certificate.ts'
import type { LogRecord } from '../../src/service/log.ts'
import { migrate, resetOperatorKey } from '../../src/service/maintenance.ts'
import type { ServeOptions } from '../../src/service/serve-options.ts'
import { startService, type RunningService } from '../../src/service/serve.ts'

type Listed = { data: { action: string }[] }

let folder: string
let dataDir: string
let running: RunningService[]
const log: LogRecord[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-serve-'))
  dataDir = join(folder, 'data')
  running = []
})
afterEach(async () => {
  for (const service of running) await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const start = async (options: Partial<ServeOptions> = {}): Promise<RunningService> => {
  const service = await startService({ port: 0, dataDir, env: {}, log: (one) => log.push(one), ...options })
  running.push(service)
  return service
}

const ask = (service: RunningService, path: string, key: string, init: RequestInit = {}) =>
  fetch(service.baseUrl + path, {
    ...init,
    headers: { 'x-api-key': key, 'content-type': 'application/json', connection: 'close' },
  })

const portOf = (service: RunningService): number => Number(new URL(service.baseUrl).port)

/** What comes back for bytes as they are. */
const raw = (service: RunningService, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = createConnection(portOf(service), '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => (text += chunk))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })

describe('a first start', () => {
  test('makes an operator key that works, and shows it this once', async () => {
    const first = await start()
    expect((await ask(first, '/organizations', first.operatorKey!)).status).toBe(200)
    await first.stop()
    const second = await start()
    expect(second.operatorKey).toBeUndefined()
    expect((await ask(second, '/organizations', first.operatorKey!)).status).toBe(200)
  })

  test('says where it is', async () => {
    const service = await start({ publicUrl: 'https://svc.example.com/' })
    const origin = `http://127.0.0.1:${portOf(service)}`
    expect(service).toMatchObject({
      baseUrl: `${origin}/admin/public/api`,
      mcpUrl: `${origin}/mcp`,
      healthUrl: `${origin}/health`,
      approverUrl: 'https://svc.example.com/approver',
      dataDir,
    })
  })

  test('keeps its directory and files from others, whatever the umask is', async () => {
    mkdirSync(dataDir, { mode: 0o777 })
    const before = process.umask(0)
    try {
      await start()
    } finally {
      process.umask(before)
    }
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(dataDir))
      expect([name, statSync(join(dataDir, name)).mode & 0o777]).toEqual([name, 0o600])
  })

  test('takes a preset operator key, and does not show it', async () => {
    const key = 'a-preset-key-of-more-than-32-characters'
    const service = await start({ env: { SVC_BOOTSTRAP_API_KEY: key } })
    expect(service.operatorKey).toBeUndefined()
    expect((await ask(service, '/organizations', key)).status).toBe(200)
    expect((await ask(service, '/organizations', `${key}x`)).status).toBe(401)
  })

  test('refuses a weak preset key and leaves nothing running', async () => {
    await expect(start({ env: { SVC_BOOTSTRAP_API_KEY: 'short' } })).rejects.toMatchObject({
      code: 'weak_bootstrap_key',
    })
    expect((await start()).operatorKey).toBeDefined()
  })
})

describe('a start that cannot be', () => {
  test('a second service on the same directory is refused, and told which process has it', async () => {
    const first = await start()
    await expect(start()).rejects.toMatchObject({
      name: 'SvcError',
      code: 'data_dir_in_use',
      message: `The data directory ${dataDir} is in use by process ${process.pid}`,
    })
    await first.stop()
    await start()
  })

  test('a port in use is told with a way out, and makes no key that nobody sees', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    await expect(start({ port })).rejects.toMatchObject({
      code: 'cannot_listen',
      hint: expect.stringContaining('--port 0'),
    })
    await new Promise((resolve) => other.close(resolve))
    expect((await start({ port })).operatorKey).toBeDefined()
  })

  test.each<[string, Partial<ServeOptions>, string]>([
    ['an open address without a token', { host: '0.0.0.0' }, 'Without MCP_AUTH_TOKEN'],
    [
      'an open address with --dev',
      { host: '0.0.0.0', dev: true, env: { MCP_AUTH_TOKEN: 'x'.repeat(32) } },
      '--dev',
    ],
    ['a public URL with a path', { publicUrl: 'https://svc.example.com/x' }, '--public-url'],
    ['a certificate without its key', { tlsCert: 'cert.pem' }, '--tls-key'],
    ['a certificate that is not there', { tlsCert: '/nowhere.pem', tlsKey: '/nowhere.key' }, '/nowhere.pem'],
    ['a proxy that is no network', { trustedProxy: ['10.0.0'] }, '10.0.0'],
  ])('%s is refused', async (_, options, message) => {
    await expect(start(options)).rejects.toThrow(message)
  })

  test('a data directory that is a file is refused', async () => {
    writeFileSync(dataDir, '')
    await expect(start()).rejects.toMatchObject({ code: 'data_dir_unusable' })
  })

  test('a master key that others can read is refused, with the command that mends it', async () => {
    const service = await start()
    await service.stop()
    execFileSync('chmod', ['644', join(dataDir, 'master.key')])
    await expect(start()).rejects.toMatchObject({
      code: 'open_master_key',
      hint: `chmod 600 '${join(dataDir, 'master.key')}'`,
    })
  })

  test('the master key of another store is refused', async () => {
    const service = await start()
    await service.stop()
    await expect(start({ env: { SVC_MASTER_KEY: 'ab'.repeat(32) } })).rejects.toMatchObject({
      code: 'wrong_master_key',
    })
  })

  test('a master key of another length is refused', async () => {
    await expect(start({ env: { SVC_MASTER_KEY: 'abcd' } })).rejects.toMatchObject({ code: 'bad_master_key' })
  })
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

describe('a lost operator key', () => {
  test('is replaced; the old one ends, and the audit says so', async () => {
    const service = await start()
    const old = service.operatorKey!
    await expect(resetOperatorKey(dataDir)).rejects.toMatchObject({ code: 'data_dir_in_use' })
    await service.stop()
    const fresh = await resetOperatorKey(dataDir)
    const again = await start()
    expect(again.operatorKey).toBeUndefined()
    expect((await ask(again, '/organizations', old)).status).toBe(401)
    const audit = await fetch(`${new URL(again.baseUrl).origin}/svc/v1/audit?org_id=0`, {
      headers: { 'x-api-key': fresh, connection: 'close' },
    })
    const { data } = (await audit.json()) as Listed
    expect(data.map(({ action }) => action)).toEqual(['createKey', 'resetOperatorKey'])
  })

  test('where no service ever ran there is none, and none is made', async () => {
    await expect(resetOperatorKey(dataDir)).rejects.toMatchObject({ code: 'no_store' })
    await expect(migrate(dataDir)).rejects.toMatchObject({ code: 'no_store' })
    expect(existsSync(dataDir)).toBe(false)
  })

  test('a store that is up to date has nothing to migrate', async () => {
    await (await start()).stop()
    expect(await migrate(dataDir)).toEqual([])
  })
})
