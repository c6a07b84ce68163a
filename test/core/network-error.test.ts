import { createServer } from 'node:http'
import { createServer as createTcp } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { networkError } from '../../src/core/network-error.ts'
import { approval } from '../../src/contract/approval.ts'
import { org } from '../../src/contract/org.ts'
import { cut, json, stall, stallInBody, text, truncated } from '../fake-hosted.ts'
import { failure, withHosted } from '../client/hosted.ts'
import { listening, open } from '../client/local-server.ts'

const ok = { status: 'success', message: 'OK' }

test.each([
  ['cut off before the response', cut, 'connection_cut', undefined],
  ['cut off within the body', truncated, 'connection_cut', undefined],
  ['silent', stall, 'timed_out', { headers: 50 }],
  ['silent within the body', stallInBody, 'timed_out', { body: 50 }],
])('a response that is %s is reported as unreachable', async (_, bad, code, timeoutMs) => {
  const { client, service } = await withHosted({ ...(timeoutMs && { timeoutMs }) })
  service.always(bad)
  const error = await failure(client.call(org.listOrganizations, {}))
  expect(error).toMatchObject({ exit: 'unreachable', code, hint: expect.any(String) })
  expect(error.message).toContain(new URL(service.origin).host)
})

test('a response that the service may delay is awaited, and no other', async () => {
  const { client, service } = await withHosted({ timeoutMs: { headers: 50 } })
  service.always((seen, response) => void setTimeout(() => json(200, ok)(seen, response), 150))
  const input = { request_id: 'apr_1', wait_s: 1 }
  expect((await client.call(approval.getApproval, input)).envelope.status).toBe('success')
  const error = await failure(client.call(approval.getApproval, { request_id: 'apr_1' }))
  expect(error.code).toBe('timed_out')
})

test('onSent is called while the server prepares its answer', async () => {
  let reply: (() => void) | undefined
  const server = createServer((_, response) => {
    reply = () => void response.end('late')
    if (isSent) reply()
  })
  let isSent = false
  const onSent = () => {
    isSent = true
    reply?.()
  }
  const get = open({ env: {}, onSent })
  expect((await get(`http://127.0.0.1:${await listening(server)}/`)).body).toBe('late')
})

test.each([
  ['ENOTFOUND', 'dns_failed'],
  ['EAI_AGAIN', 'dns_failed'],
  ['ECONNREFUSED', 'connection_refused'],
  ['ECONNRESET', 'connection_cut'],
  ['CERT_HAS_EXPIRED', 'tls_failed'],
])('the network error %s is reported as %s', (network, code) => {
  const error = networkError(Object.assign(new Error('x'), { code: network }), 'https://api.example/x?y')
  expect(error).toMatchObject({ exit: 'unreachable', code })
  expect(error.message).toMatch(/api\.example:443/)
})

test('a response that is not HTTP is reported as that', async () => {
  const port = await listening(
    createTcp((socket) => void socket.once('data', () => socket.write('SSH-2.0-x\r\n'))),
  )
  const get = open({ env: {} })
  expect(await failure(get(`http://127.0.0.1:${port}/`))).toMatchObject({ code: 'not_http' })
})

test('no compressed response is requested', async () => {
  const { client, service } = await withHosted()
  await client.call(org.listOrganizations, {})
  expect(service.seen[0]!.headers['accept-encoding']).toBe('identity')
})

test.each([
  ['another encoding', text(200, '{}', { 'content-encoding': 'zork' }), 'unexpected_answer'],
  [
    'a gzip bomb',
    text(200, gzipSync(Buffer.alloc(65 * 1024 * 1024)), { 'content-encoding': 'gzip' }),
    'unexpected_answer',
  ],
  ['invalid UTF-8', text(200, Buffer.from([0x7b, 0xff, 0xfe])), 'unexpected_answer'],
  ['65 MiB', text(200, Buffer.alloc(65 * 1024 * 1024, 32)), 'answer_too_large'],
])('a response of %s is an error and does not fill the memory', async (_, answer, code) => {
  const { client, service } = await withHosted()
  service.next(answer)
  expect(await failure(client.call(org.listOrganizations, {}))).toMatchObject({ exit: 'failed', code })
})

test('a key with a line break is never sent or shown', async () => {
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

test('an abort ends the wait before a retry', async () => {
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
