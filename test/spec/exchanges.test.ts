import { readdirSync, readFileSync } from 'node:fs'
import { createServer, connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService, type RunningService } from '../../src/service/lifecycle/serve.ts'
import { remote } from '../e2e/person.ts'
import { decide, enroll } from '../service/approver.ts'
import { dataOf } from '../service/fixtures.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { svc } from '../cli/svc.ts'

// Requests and responses written by hand from the specification. The request goes over a raw socket to the real service,
// byte for byte. The command line talks to a peer that sends only what the specification shows.

/** ISO 8601 without milliseconds, which the specification does not show. */
const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
const key = `svc_op_${'k'.repeat(43)}`
const folder = new URL('exchanges/', import.meta.url)

type Message = { start: string; headers: Record<string, string>; body: string }
type Exchange = { title: string; argv: string[] | undefined; request: string; reply: Message }

const parseMessage = (raw: string): Message => {
  const [head, ...body] = raw.split('\r\n\r\n')
  const [start, ...lines] = head!.split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const at = line.indexOf(':')
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
  })
  return { start: start!, headers: Object.fromEntries(headers), body: body.join('\r\n\r\n') }
}

const exchanges = readdirSync(folder)
  .toSorted((a, b) => Number.parseInt(a) - Number.parseInt(b))
  .map((file): Exchange => {
    const lines = readFileSync(new URL(file, folder), 'utf8')
      .replaceAll('{now}', now)
      .replaceAll('{minute}', now.slice(0, 16))
      .split('\n')
    const notes = lines.filter((line) => line.startsWith('# '))
    const [request, reply] = lines
      .filter((line) => !line.startsWith('# '))
      .join('\r\n')
      .replace('{key}', key)
      .split('\r\n---\r\n')
    return {
      title: `${lines.find((line) => / HTTP\//.test(line))} (${file})`,
      argv: notes
        .find((note) => note.startsWith('# svc '))
        ?.slice('# svc '.length)
        .split(' '),
      // A request without a body ends with the empty line after its headers.
      request: request!.includes('\r\n\r\n') ? request! : `${request}\r\n`,
      reply: parseMessage(reply!.trimEnd()),
    }
  })

/** A matcher for what the specification shows: a word in <> is a type, everything else is itself, and more fields are allowed. */
const shownBy = (pattern: unknown): unknown => {
  if (pattern === '<string>') return expect.stringMatching(/./)
  if (pattern === '<boolean>') return expect.any(Boolean)
  if (typeof pattern !== 'object' || pattern === null) return pattern
  const entries = Object.entries(pattern).map(([name, value]) => [name, shownBy(value)] as const)
  return expect.objectContaining(Object.fromEntries(entries))
}

const sendRaw = async (port: number, bytes: string): Promise<Message> => {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  return parseMessage(await text(socket))
}

describe('the service', () => {
  const { path: dataDir, remove } = temporaryFolder()
  let service: RunningService
  let port: number

  const prepare = async (path: string, body: object): Promise<void> => {
    const response = await fetch(service.baseUrl + path, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  }

  beforeAll(async () => {
    service = await startService({
      dataDir,
      port: 0,
      // A key file takes the place of the phone.
      dev: true,
      env: { SVC_BOOTSTRAP_API_KEY: key },
      log: () => undefined,
    })
    port = Number(new URL(service.baseUrl).port)
    await prepare('/organization/create', { name: 'Acme Corp', slug: 'acme' })
  })
  afterAll(async () => {
    await service.stop()
    remove()
  })

  /** The phone of the person in the exchanges, and their decision on a prompt. */
  const enrolled = async () => enroll(remote(service.baseUrl, key), 1, '1')
  let phone: Awaited<ReturnType<typeof enrolled>> | undefined
  const answered = async (): Promise<void> => {
    const { call } = remote(service.baseUrl, key)
    const [{ request_id }] = dataOf(await call('GET', '/svc/v1/approvals?status=pending'))
    // Inside the geofence of exchange 5.
    const location = { latitude: 52.5, longitude: 13.4, accuracy_m: 5, age_ms: 0 }
    const deciding = { decision: 'approve' as const, location }
    dataOf(await decide(remote(service.baseUrl, key), request_id, phone!.key, deciding))
  }

  /** Sends the push. Nobody answers it on the page unless `answered` follows: then results of an app decide. */
  const verifyAda = () => prepare('/verify-user', { country_code: '+1', mobile: '2025550101' })

  const prepared: Record<string, () => Promise<void>> = {
    '9-verify-user': async () => void (phone = await enrolled()),
    '10-validate-auth': answered,
    '11-auth-results': verifyAda,
    '16-validate-without-plus': async () => {
      await verifyAda()
      await answered()
    },
    '17-delete-with-empty-object': () =>
      prepare('/organization/1/create/geo-fence', {
        name: 'Pier',
        latitude: 52.5,
        longitude: 13.4,
        radius: 100,
        is_active: 1,
      }),
    '19-results-of-an-app': verifyAda,
    '6-accept-user': async () => {
      const grace = { email: 'grace@acme.example', first_name: 'Grace', last_name: 'Hopper' }
      await prepare('/organization/1/create/user', { ...grace, country_code: '+1', mobile: '2025550102' })
      await prepare('/organization/1/user/2/pending', {})
    },
  }

  test.each(exchanges.map((one) => [one.title, one] as const))('%s', async (title, { request, reply }) => {
    for (const [file, work] of Object.entries(prepared)) if (title.includes(file)) await work()
    const answer = await sendRaw(port, request)
    const [, status] = answer.start.split(' ')
    expect(status).toMatch(/^2\d\d$/)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    const body = JSON.parse(answer.body) as { data?: unknown }
    const pattern = JSON.parse(reply.body) as { data?: unknown }
    expect(body).toEqual(shownBy({ ...pattern, ...(Array.isArray(pattern.data) && { data: body.data }) }))
    const rows = Array.isArray(pattern.data) ? (body.data as unknown[]) : []
    for (const row of rows) expect(row).toEqual(shownBy((pattern.data as unknown[])[0]))
    expect(rows.length > 0).toBe(Array.isArray(pattern.data))
  })

  test.each(exchanges.filter(({ argv }) => argv).map((one) => [one.title, one] as const))(
    'returns no success without the header x-api-key: %s',
    async (_, { request }) => {
      const answer = await sendRaw(port, request.replace(/x-api-key: .*\r\n/, ''))
      expect(answer.start).toMatch(/^HTTP\/1\.1 401 /)
      expect(JSON.parse(answer.body)).toMatchObject({ status: expect.not.stringMatching('^success$') })
    },
  )
})

/** A peer that records its request, and answers what the specification shows. */
const reader = (ended: (raw: string) => void, reply: Message) =>
  createServer((socket) => {
    let raw = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      raw += chunk
      const { headers, body } = parseMessage(raw)
      if (!raw.includes('\r\n\r\n') || body.length < Number(headers['content-length'] ?? 0)) return
      ended(raw)
      const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n`
      socket.end(`${head}content-length: ${reply.body.length}\r\n\r\n${reply.body}`)
    })
  })

describe('the command line', () => {
  const { path: configDir, remove } = temporaryFolder()
  afterAll(remove)

  test.each(exchanges.filter(({ argv }) => argv).map((one) => [one.title, one] as const))(
    '%s',
    async (_, { argv, request, reply }) => {
      const received: string[] = []
      const server = reader((raw) => received.push(raw), reply)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const { exit, err } = await svc(argv!, {
        env: {
          SVC_BASE_URL: `http://127.0.0.1:${port}/admin/public/api`,
          SVC_API_KEY: key,
          SVC_CONFIG_DIR: configDir,
        },
      })
      server.close()
      expect([exit, err]).toEqual([0, expect.not.stringMatching(/error/i)])
      expect(received).toHaveLength(1)
      const [sent, shown] = [parseMessage(received[0]!), parseMessage(request)]
      expect(sent.start).toBe(shown.start)
      expect(sent.headers['x-api-key']).toBe(key)
      expect(sent.headers['content-type']).toBe('application/json')
      expect(JSON.parse(sent.body || 'null')).toEqual(JSON.parse(shown.body || 'null'))
    },
  )
})
