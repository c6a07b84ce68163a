import { connect, createServer as createTcp, type AddressInfo } from 'node:net'
import { createServer as createHttp } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { expect, onTestFinished, test } from 'vitest'
import { createTransport } from '../../src/client/undici-transport.ts'
import { proxyFor } from '../../src/client/proxy.ts'
import { networkError } from '../../src/core/network-error.ts'
import { selfSigned } from '../certificate.ts'
import { failure, secretKey } from './hosted.ts'
import { listening, open } from './local-server.ts'

const secure = async () => {
  const { cert, key } = selfSigned()
  const seen: string[] = []
  const server = createHttps({ cert, key }, (request, response) => {
    seen.push(request.headers.host ?? '')
    response.end('{"status":"success","message":"OK"}')
  })
  return { cert, seen, port: await listening(server) }
}

test('a private certificate authority requires --cacert', async () => {
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

test('https to a plain http server is explained, without the message of OpenSSL', async () => {
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
])('the TLS error %s is one readable line with a hint', (code, message, detail, helps) => {
  const error = networkError(Object.assign(new Error(message), { code }), 'https://host.example/x')
  expect(error).toMatchObject({ code: 'tls_failed', detail, hint: expect.stringContaining(helps) })
})

/** A proxy that connects every target to one local port. */
const proxy = async (port: number) => {
  const connects: string[] = []
  const server = createHttp((request, response) => {
    connects.push(`${request.method} ${request.url} ${request.headers['x-api-key'] ?? ''}`)
    response.end()
  })
  server.on('connect', (request, client) => {
    connects.push(`CONNECT ${request.url} ${request.headers['x-api-key'] ?? ''}`.trimEnd())
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    for (const socket of [upstream, client]) socket.on('error', () => {})
  })
  return { connects, uri: `http://127.0.0.1:${await listening(server)}` }
}

test('HTTPS_PROXY is used with a tunnel, so that the proxy sees no key', async () => {
  const { cert, seen, port } = await secure()
  const { connects, uri } = await proxy(port)
  const transport = createTransport({ env: { HTTPS_PROXY: uri }, ca: cert })
  onTestFinished(() => transport.close())
  const answer = await transport({
    method: 'GET',
    url: `https://svc.test:${port}/`,
    headers: { 'x-api-key': secretKey },
  })
  expect(answer.status).toBe(200)
  expect(connects).toEqual([`CONNECT svc.test:${port}`])
  expect(seen).toEqual([`svc.test:${port}`])
})

test('a certificate is checked through a proxy too', async () => {
  const { port } = await secure()
  const { uri } = await proxy(port)
  const get = open({ env: { https_proxy: uri } })
  expect(await failure(get(`https://svc.test:${port}/`))).toMatchObject({ code: 'tls_failed' })
})

test('loopback and NO_PROXY hosts are reached directly', async () => {
  const { cert, port } = await secure()
  const { connects, uri } = await proxy(port)
  const env = { HTTPS_PROXY: uri, HTTP_PROXY: uri, NO_PROXY: '.invalid' }
  expect((await open({ env, ca: cert })(`https://127.0.0.1:${port}/`)).status).toBe(200)
  await failure(open({ env, timeoutMs: { connect: 1000 } })(`https://svc.invalid:${port}/`))
  expect(connects).toEqual([])
})

test.each([
  ['svc.example', true],
  ['SVC.example', true],
  ['example', true],
  ['.example', true],
  ['*.example', true],
  ['other.test, svc.example', true],
  ['svc.example:8443', true],
  ['*', true],
  ['svc.example:443', false],
  ['vc.example', false],
  ['svc.example.com', false],
  ['', false],
])('whether NO_PROXY=%s exempts https://svc.example:8443: %s', (noProxy, exempt) => {
  const env = { HTTPS_PROXY: 'http://proxy.test:3128', NO_PROXY: noProxy }
  expect(proxyFor('https://svc.example:8443', env)).toBe(exempt ? undefined : 'http://proxy.test:3128')
})

test('a proxy that rejects the connection or does not exist is named', async () => {
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
