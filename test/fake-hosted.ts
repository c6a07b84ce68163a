import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A received request with headers and body, so that a test can check where a secret was sent. */
export type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string }

/** Another response to one request, with raw access, for all kinds of misbehaviour. */
export type Answering = (request: Seen, response: ServerResponse) => void

export type FakeHosted = {
  /** The API root. */
  baseUrl: string
  origin: string
  seen: Seen[]
  /** The number of connections, even if they sent no HTTP. */
  connections(): number
  /** Answers the next requests with these, one each. Then the service behaves normally again. */
  next(...answers: Answering[]): void
  /** Answers every request with this. */
  always(answer: Answering | undefined): void
  close(): Promise<void>
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answering =>
  (_, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body))

export const text =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}): Answering =>
  (_, response) =>
    void response.writeHead(status, headers).end(body)

export const page = (status = 200): Answering =>
  text(status, '<!doctype html><title>Welcome</title>', { 'content-type': 'text/html' })

export const redirect = (status: number, location: string): Answering => text(status, '', { location })

/** Closes the connection before the response. */
export const cut: Answering = (_, response) => void response.socket?.destroy()

/** Closes the connection in the middle of the body. */
export const truncated: Answering = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"status":"succ', () => response.socket?.destroy())
}

/** Never sends the headers. */
export const stall: Answering = () => {}

/** Sends the headers, and then nothing. */
export const stallInBody: Answering = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"status":')
}

const organizations = [
  { name: 'Acme', slug: 'acme', plan: 'gold' },
  { name: 'Globex', slug: 'globex', plan: 'free' },
]

/**
 * A hosted service as the specification shows it, with other fields than ours wherever it shows none: an
 * organization without an ID, a user with `userId`, further members in the envelope, no Link, no idempotency.
 */
const hosted: Answering = (request, response) => {
  const answer = (data?: unknown): void =>
    json(200, {
      status: 'success',
      message: 'OK',
      ...(data === undefined ? {} : { data }),
      traceId: 'T-1',
      meta: { region: 'eu' },
    })(request, response)
  const path = request.path.replace(/\?.*/, '')
  if (path === '/health') return json(200, { ok: true, transport: 'http' })(request, response)
  if (!request.headers['x-api-key'])
    return json(401, { status: 'error', message: 'Unauthorized' })(request, response)
  const route = path.replace('/admin/public/api', '')
  if (route === '/organizations') return answer(organizations)
  if (/^\/organization\/[\w-]+$/.test(route)) return answer(organizations[0])
  if (/^\/organization\/[\w-]+\/users$/.test(route)) return answer([{ userId: 'u-7', displayName: 'Ada' }])
  if (/^\/organization\/\d+\/user\/\w+$/.test(route)) return answer({ userId: 'u-7', displayName: 'Ada' })
  if (request.method !== 'GET') return answer()
  return answer([])
}

/** Plays the hosted service on loopback. It behaves normally until a test says otherwise. */
export const startFakeHosted = async (): Promise<FakeHosted> => {
  const seen: Seen[] = []
  let queue: Answering[] = []
  let constant: Answering | undefined
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const one: Seen = {
        method: request.method!,
        path: request.url!,
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      }
      seen.push(one)
      const answering = queue.shift() ?? constant ?? hosted
      answering(one, response)
    })
  })
  let connections = 0
  server.on('connection', () => void (connections += 1))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    baseUrl: `${origin}/admin/public/api`,
    origin,
    seen,
    connections: () => connections,
    next: (...answers) => void (queue = answers),
    always: (answer) => void (constant = answer),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
