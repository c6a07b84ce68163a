import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClientDocuments } from '../../../src/service/mcp/oauth/client-document.ts'

let server: Server
let answer: RequestListener
let id: string
let fetched: number

beforeEach(async () => {
  fetched = 0
  server = createServer((request, response) => {
    fetched += 1
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  id = `http://127.0.0.1:${(server.address() as AddressInfo).port}/client.json`
  answer = (_, response) => reply(response, { client_id: id, redirect_uris: ['http://127.0.0.1/cb'] })
})
afterEach(() => server.close())

type Reply = Parameters<RequestListener>[1]

const reply = (response: Reply, body: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

test('is fetched from its own address, and kept for as long as it allows', async () => {
  let now = 0
  answer = (_, response) => reply(response, { client_id: id }, { 'cache-control': 'public, max-age=600' })
  const documents = createClientDocuments(true, () => now)
  await documents.fetch(id)
  now = 599_999
  await documents.fetch(id)
  expect(fetched).toBe(1)
  now = 600_000
  await documents.fetch(id)
  expect(fetched).toBe(2)
})

test('is kept for a minute if it says nothing', async () => {
  let now = 0
  const documents = createClientDocuments(true, () => now)
  await documents.fetch(id)
  now = 60_000
  await documents.fetch(id)
  expect(fetched).toBe(2)
})

const bad: [string, () => void, string][] = [
  ['another client_id', () => (answer = (_, to) => reply(to, { client_id: `${id}x` })), 'names another'],
  ['no object', () => (answer = (_, to) => reply(to, 'null')), 'names another'],
  ['no JSON', () => (answer = (_, to) => reply(to, '{')), 'is not JSON'],
  [
    'another type',
    () => (answer = (_, to) => reply(to, '{}', { 'content-type': 'text/html' })),
    'is not JSON',
  ],
  ['too much', () => (answer = (_, to) => reply(to, `"${'x'.repeat(9_000)}"`)), 'is larger than'],
  [
    'a redirect',
    () => (answer = (_, to) => to.writeHead(302, { location: 'http://169.254.169.254/' }).end()),
    'status 302',
  ],
  ['a broken connection', () => (answer = (_, to) => to.destroy()), 'could not be fetched'],
]

test.each(bad)('with %s is refused', async (_, set, message) => {
  set()
  await expect(createClientDocuments(true).fetch(id)).rejects.toMatchObject({
    error: 'invalid_client',
    message: expect.stringContaining(message),
  })
})

describe('an address', () => {
  test.each([
    'https://127.0.0.1/client.json',
    'https://localhost/client.json',
    'https://[::1]/client.json',
    'https://10.0.0.7/client.json',
    'https://192.168.1.1/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:10.0.0.1]/client.json',
    'https://0x7f000001/client.json',
    'http://app.example/client.json',
    'https://app.example/',
    'https://app.example/client.json#x',
    'https://u:p@app.example/client.json',
    'https://APP.example/client.json',
    'https://app.example/a/../client.json',
    'file:///etc/passwd',
    `https://app.example/${'x'.repeat(500)}`,
  ])('%s is never fetched', async (address) => {
    await expect(createClientDocuments(false).fetch(address)).rejects.toMatchObject({
      error: 'invalid_client',
    })
  })

  test('of a name that leads into a private network is not connected to', async () => {
    // `localhost.` is not the word localhost, but resolves to this machine.
    const name = id.replace('http://127.0.0.1', 'https://localhost.')
    await expect(createClientDocuments(false).fetch(name)).rejects.toMatchObject({
      message: expect.stringContaining('could not be fetched'),
    })
    expect(fetched).toBe(0)
  })
})

const gone = (): void => void (answer = (_, to) => to.destroy())

describe('documents that cannot be reached', () => {
  test('are not offered for ten minutes, and the person learns what to do', async () => {
    gone()
    let now = 0
    const documents = createClientDocuments(true, () => now)
    expect(documents.areReachable()).toBe(true)
    await expect(documents.fetch(id)).rejects.toThrow('Connect the client again: it can now register instead')
    now = 599_999
    expect(documents.areReachable()).toBe(false)
    now = 600_000
    expect(documents.areReachable()).toBe(true)
  })

  test.each([
    ['a document', () => undefined],
    ['an error', () => void (answer = (_, to) => to.writeHead(404).end())],
  ])('are offered as long as %s came from somewhere', async (_, set) => {
    set()
    const documents = createClientDocuments(true)
    await documents.fetch(id).catch(() => undefined)
    gone()
    await expect(documents.fetch(`${id}?gone`)).rejects.toThrow(/could not be fetched$/)
    expect(documents.areReachable()).toBe(true)
  })
})

test('only a few are fetched at a time', async () => {
  const waiting: Reply[] = []
  answer = (_, response) => void waiting.push(response)
  const documents = createClientDocuments(true)
  const eight = Array.from({ length: 8 }, (_, n) => documents.fetch(`${id}?${n}`).catch(() => undefined))
  await expect(documents.fetch(`${id}?9`)).rejects.toMatchObject({ error: 'temporarily_unavailable' })
  await expect.poll(() => waiting.length).toBe(8)
  for (const response of waiting) response.destroy()
  await Promise.all(eight)
})
