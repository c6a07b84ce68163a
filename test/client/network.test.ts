import { connect, createServer as createTcp, type AddressInfo, type Socket } from 'node:net'
import { createServer as createHttp, type Server } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { createTransport } from '../../src/client/undici-transport.ts'
import { networkError } from '../../src/client/network-error.ts'
import { approval } from '../../src/contract/approval.ts'
import { org } from '../../src/contract/org.ts'
import { selfSigned } from '../certificate.ts'
import { cut, json, stall, stallInBody, text, truncated } from '../fake-hosted.ts'
import { failure, secretKey, withHosted } from './hosted.ts'

const ok = { status: 'success', message: 'OK' }

const listening = async (server: Server | ReturnType<typeof createTcp>): Promise<number> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => void sockets.add(socket))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

/** The transport alone, closed at the end. */
const open = (options: Parameters<typeof createTransport>[0]) => {
  const transport = createTransport(options)
  onTestFinished(() => transport.close())
  return (url: string, signal?: AbortSignal) => transport({ method: 'GET', url, headers: {} }, signal)
}

test.each([
  ['cut before the answer', cut, 'connection_cut'],
  ['cut within the body', truncated, 'connection_cut'],
  ['silent', stall, 'timed_out'],
  ['silent within the body', stallInBody, 'timed_out'],
])('an answer that is %s is unreachable, and says so', async (_, bad, code) => {
  const { client, service } = await withHosted({ timeoutMs: { headers: 50, body: 50 } })
  service.always(bad)
  const error = await failure(client.call(org.listOrganizations, {}))
  expect(error).toMatchObject({ exit: 'unreachable', code, hint: expect.any(String) })
  expect(error.message).toContain(new URL(service.origin).host)
})

test('an answer that the service was asked to hold back is waited for, and no other', async () => {
  const { client, service } = await withHosted({ timeoutMs: { headers: 50 } })
  service.always((seen, response) => void setTimeout(() => json(200, ok)(seen, response), 150))
  const asked = { request_id: 'apr_1', wait_s: 1 }
  expect((await client.call(approval.getApproval, asked)).envelope.status).toBe('success')
  const error = await failure(client.call(approval.getApproval, { request_id: 'apr_1' }))
  expect(error.code).toBe('timed_out')
})

test.each([
  ['ENOTFOUND', 'dns_failed'],
  ['EAI_AGAIN', 'dns_failed'],
  ['ECONNREFUSED', 'connection_refused'],
  ['ECONNRESET', 'connection_cut'],
  ['CERT_HAS_EXPIRED', 'tls_failed'],
])('the network says %s and svc says %s', (network, code) => {
  const error = networkError(Object.assign(new Error('x'), { code: network }), 'https://api.example/x?y')
  expect(error).toMatchObject({ exit: 'unreachable', code })
  expect(error.message).toMatch(/api\.example:443/)
})

test('an answer that is no HTTP is named as that', async () => {
  const port = await listening(
    createTcp((socket) => void socket.once('data', () => socket.write('SSH-2.0-x\r\n'))),
  )
  const get = open({ env: {} })
  expect(await failure(get(`http://127.0.0.1:${port}/`))).toMatchObject({ code: 'not_http' })
})

test('a compressed answer is read, although none was asked for', async () => {
  const { client, service } = await withHosted()
  service.next(
    text(200, gzipSync(JSON.stringify({ ...ok, data: [{ slug: 'a' }] })), { 'content-encoding': 'gzip' }),
  )
  expect((await client.call(org.listOrganizations, {})).envelope.data).toEqual([{ slug: 'a' }])
})

test.each([
  ['broken gzip', text(200, 'no gzip', { 'content-encoding': 'gzip' }), 'unexpected_answer'],
  ['an unknown encoding', text(200, '{}', { 'content-encoding': 'zork' }), 'unexpected_answer'],
  [
    'a gzip bomb',
    text(200, gzipSync(Buffer.alloc(65 * 1024 * 1024)), { 'content-encoding': 'gzip' }),
    'unexpected_answer',
  ],
  ['no UTF-8', text(200, Buffer.from([0x7b, 0xff, 0xfe])), 'unexpected_answer'],
  ['65 MiB', text(200, Buffer.alloc(65 * 1024 * 1024, 32)), 'answer_too_large'],
])('an answer of %s is a failure and fills no memory', async (_, answer, code) => {
  const { client, service } = await withHosted()
  service.next(answer)
  expect(await failure(client.call(org.listOrganizations, {}))).toMatchObject({ exit: 'failed', code })
})

test('a key with a line break is never sent, nor shown', async () => {
  const { client, service } = await withHosted({ apiKey: async () => 'abc\r\nx-evil: 1' })
  const error = await failure(client.call(org.listOrganizations, {}))
  expect(error.exit).toBe('usage')
  expect(JSON.stringify([error.message, error.hint, error.detail])).not.toContain('abc')
  expect(service.seen).toEqual([])
})

test.each(['before it is sent', 'while it waits'])('an abort ends a request at once %s', async (when) => {
  const { client, service } = await withHosted()
  const abort = new AbortController()
  service.always(() => abort.abort())
  if (when === 'before it is sent') abort.abort()
  const error = await failure(client.call(org.listOrganizations, {}, { signal: abort.signal }))
  expect(error.exit).toBe('interrupted')
  expect(service.seen.length).toBeLessThanOrEqual(1)
})

test('an abort ends the wait between two tries', async () => {
  const abort = new AbortController()
  const { client, service } = await withHosted({
    sleep: undefined,
    debug: (line) => line.startsWith('<') && abort.abort(),
  })
  service.always(json(503, { status: 'error', message: 'busy' }, { 'retry-after': '20' }))
  const error = await failure(client.call(org.listOrganizations, {}, { signal: abort.signal }))
  expect(error.exit).toBe('interrupted')
  expect(service.seen).toHaveLength(1)
})

test('several requests share one connection', async () => {
  const { client, service } = await withHosted()
  for (let i = 0; i < 5; i++) await client.call(org.listOrganizations, {})
  expect(service.connections()).toBe(1)
})

const secure = async () => {
  const { cert, key } = selfSigned()
  const seen: string[] = []
  const server = createHttps({ cert, key }, (request, response) => {
    seen.push(request.headers.host ?? '')
    response.end(JSON.stringify(ok))
  })
  return { cert, seen, port: await listening(server) }
}

test('a private certificate authority needs --cacert, and works with it', async () => {
  const { cert, port } = await secure()
  const url = `https://127.0.0.1:${port}/`
  expect(await failure(open({ env: {} })(url))).toMatchObject({
    code: 'tls_failed',
    hint: expect.stringContaining('--cacert'),
  })
  expect((await open({ env: {}, ca: cert })(url)).status).toBe(200)
  expect(await failure(open({ env: {}, ca: 'no certificate' })(url))).toMatchObject({ code: 'tls_failed' })
  expect(await failure(open({ env: {}, ca: selfSigned().cert })(url))).toMatchObject({ code: 'tls_failed' })
})

test('https to a server that speaks plain http says so, without the text of OpenSSL', async () => {
  const port = await listening(createHttp((_, response) => void response.end('{}')))
  const error = await failure(open({ env: {} })(`https://127.0.0.1:${port}/`))
  expect(error).toMatchObject({
    code: 'tls_failed',
    message: `The server at 127.0.0.1:${port} does not speak TLS`,
    hint: `If the service uses plain http, its address starts with http://127.0.0.1:${port}`,
  })
  expect(error.detail).toBeUndefined()
})

test.each([
  [
    'EPROTO',
    'write EPROTO 80DC:error:0A000410:SSL routines:ssl3_read_bytes:ssl/tls alert handshake failure:../deps/s3.c:1584:\n',
    'EPROTO: ssl/tls alert handshake failure',
    '--cacert',
  ],
  ['CERT_HAS_EXPIRED', 'certificate has expired', 'CERT_HAS_EXPIRED: certificate has expired', 'Renew'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'not in it', 'ERR_TLS_CERT_ALTNAME_INVALID: not in it', 'another host'],
])('%s of TLS is one readable line, with what helps against it', (code, message, detail, helps) => {
  const error = networkError(Object.assign(new Error(message), { code }), 'https://host.example/x')
  expect(error).toMatchObject({ code: 'tls_failed', detail, hint: expect.stringContaining(helps) })
})

/** A proxy that connects whatever is asked to one local port. */
const proxy = async (port: number) => {
  const asked: string[] = []
  const server = createHttp((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['x-api-key'] ?? ''}`)
    response.end()
  })
  server.on('connect', (request, client) => {
    asked.push(`CONNECT ${request.url} ${request.headers['x-api-key'] ?? ''}`.trimEnd())
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    for (const socket of [upstream, client]) socket.on('error', () => {})
  })
  return { asked, uri: `http://127.0.0.1:${await listening(server)}` }
}

test('HTTPS_PROXY is used with a tunnel, so that the proxy sees no key', async () => {
  const { cert, seen, port } = await secure()
  const { asked, uri } = await proxy(port)
  const transport = createTransport({ env: { HTTPS_PROXY: uri }, ca: cert })
  onTestFinished(() => transport.close())
  const answer = await transport({
    method: 'GET',
    url: `https://svc.test:${port}/`,
    headers: { 'x-api-key': secretKey },
  })
  expect(answer.status).toBe(200)
  expect(asked).toEqual([`CONNECT svc.test:${port}`])
  expect(seen).toEqual([`svc.test:${port}`])
})

test('a certificate is checked through a proxy as well', async () => {
  const { port } = await secure()
  const { uri } = await proxy(port)
  const get = open({ env: { https_proxy: uri } })
  expect(await failure(get(`https://svc.test:${port}/`))).toMatchObject({ code: 'tls_failed' })
})

test('loopback goes around every proxy, and so does NO_PROXY', async () => {
  const { cert, port } = await secure()
  const { asked, uri } = await proxy(port)
  const env = { HTTPS_PROXY: uri, HTTP_PROXY: uri, NO_PROXY: '.invalid' }
  expect((await open({ env, ca: cert })(`https://127.0.0.1:${port}/`)).status).toBe(200)
  await failure(open({ env, timeoutMs: { connect: 1000 } })(`https://svc.invalid:${port}/`))
  expect(asked).toEqual([])
})

test('a proxy that refuses, or is not there, is named', async () => {
  const refusing = createHttp()
  refusing.on('connect', (_, socket) => void socket.end('HTTP/1.1 407 No\r\n\r\n'))
  const port = await listening(refusing)
  const gone = createTcp()
  await new Promise<void>((resolve) => void gone.listen(0, '127.0.0.1', resolve))
  const free = (gone.address() as AddressInfo).port
  await new Promise((resolve) => void gone.close(resolve))
  for (const at of [port, free]) {
    const error = await failure(
      open({ env: { HTTPS_PROXY: `http://user:pass@127.0.0.1:${at}` } })('https://svc.test/'),
    )
    expect(error).toMatchObject({
      exit: 'unreachable',
      code: 'proxy_failed',
      hint: expect.stringContaining('NO_PROXY'),
    })
    expect(error.message).toContain(`127.0.0.1:${at}`)
    expect(`${error.message} ${error.detail} ${error.hint}`).not.toContain('pass')
  }
})
