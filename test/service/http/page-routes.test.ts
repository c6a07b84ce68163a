import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createPageRoutes } from '../../../src/service/http/page-routes.ts'
import { startTestService } from '../harness.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

let folder: string
let remove: () => void
beforeEach(() => {
  ;({ path: folder, remove } = temporaryFolder())
  mkdirSync(join(folder, 'icons'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Approve</title>')
  writeFileSync(join(folder, 'app.js'), 'export {}'.repeat(100))
  writeFileSync(join(folder, 'manifest.webmanifest'), '{}')
  writeFileSync(join(folder, 'icons', 'a.svg'), '<svg/>')
})
afterEach(() => remove())

const get = async (
  path: string,
  headers: Record<string, string> = {},
  origin = 'http://localhost:8080',
  publicUrl = 'http://127.0.0.1:8080',
): Promise<Response> => {
  const app = new Hono()
  for (const route of createPageRoutes({ publicUrl }, folder))
    app.get(route.path, (context) => route.respond(context, { id: 'req_1' }))
  return app.request(origin + path, { headers })
}

describe('the page', () => {
  test('is served with and without a slash, and loads only from its own origin', async () => {
    for (const path of ['/approver', '/approver/']) {
      const response = await get(path)
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('<title>Approve</title>')
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svc-worker",
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'service-worker-allowed': '/approver',
        'permissions-policy': expect.stringContaining('geolocation=(self)'),
      })
    }
  })

  test.each([
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['zh-CN,zh;q=0.9', 'en'],
    ['', 'en'],
  ])('lets a browser that accepts %j load the texts of %s with its script', async (accepted, language) => {
    writeFileSync(join(folder, 'index.html'), '<script src="/approver/app.js?v=abc-1"></script>')
    for (const one of ['de', 'en']) writeFileSync(join(folder, `${one}.json`), '[]')
    const { headers } = await get('/approver', { 'accept-language': accepted })
    expect(headers.get('link')).toBe(
      `</approver/${language}.json?v=abc-1>; rel=preload; as=fetch; crossorigin`,
    )
    expect(headers.get('vary')).toBe('accept-encoding, accept-language')
  })

  test.each([
    ['/approver/app.js', 'text/javascript; charset=utf-8'],
    ['/approver/manifest.webmanifest', 'application/manifest+json'],
    ['/approver/icons/a.svg', 'image/svg+xml'],
  ])('has %s as %s', async (path, type) => {
    const response = await get(path)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
  })

  test('is compressed for clients that accept it, and plain for others', async () => {
    const packed = await get('/approver/app.js', { 'accept-encoding': 'deflate, gzip' })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    const bytes = Buffer.from(await packed.arrayBuffer())
    expect(bytes.length).toBeLessThan(100)
    expect(gunzipSync(bytes).toString()).toBe('export {}'.repeat(100))
    for (const accept of ['', 'br', 'gzip;q=0', 'gzip; q=0.0']) {
      const plain = await get('/approver/app.js', { 'accept-encoding': accept })
      expect([plain.headers.get('content-encoding'), (await plain.text()).length]).toEqual([null, 900])
    }
  })

  test('is sent as the build compressed it with brotli, where the client accepts it', async () => {
    const text = 'export {}'.repeat(100)
    writeFileSync(join(folder, 'app.js.br'), brotliCompressSync(text))
    for (const accept of ['br', 'gzip, deflate, br', 'gzip;q=1, br;q=0.5']) {
      const packed = await get('/approver/app.js', { 'accept-encoding': accept })
      expect([packed.headers.get('content-encoding'), packed.headers.get('vary')]).toEqual([
        'br',
        'accept-encoding',
      ])
      expect(brotliDecompressSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe(text)
    }
    const refused = await get('/approver/app.js', { 'accept-encoding': 'br;q=0, gzip' })
    expect(refused.headers.get('content-encoding')).toBe('gzip')
    expect((await get('/approver/app.js.br')).status).toBe(404)
  })

  test('is not sent again to a client that has it', async () => {
    const etag = (await get('/approver/app.js')).headers.get('etag')!
    const again = await get('/approver/app.js', { 'if-none-match': `W/"other", ${etag}` })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await get('/approver/app.js', { 'if-none-match': 'W/"other"' })).status).toBe(200)
  })

  test.each(['/approver/nothing.js', '/approver/..%2fsecret', '/approver/icons', '/approver/icons/'])(
    'has no %s',
    async (path) => {
      writeFileSync(join(folder, '..', 'secret'), 'x')
      expect((await get(path)).status).toBe(404)
      rmSync(join(folder, '..', 'secret'))
    },
  )
})

test('the root leads to the page', async () => {
  const response = await get('/', {}, 'https://svc.example.com', 'https://svc.example.com')
  expect([response.status, response.headers.get('location')]).toEqual([302, '/approver'])
})

describe('an address without a name', () => {
  test.each([
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080', 'http://localhost:8080/approver'],
    ['http://[::1]:8080', 'http://[::1]:8080', 'http://localhost:8080/approver'],
    ['http://127.0.0.1:8080', 'https://svc.example.com', 'https://svc.example.com/approver'],
  ])('%s points to the site of %s', async (origin, publicUrl, location) => {
    const response = await get('/approver', {}, origin, publicUrl)
    expect([response.status, response.headers.get('location')]).toEqual([302, location])
  })

  test('is served where there is no better one', async () => {
    const response = await get('/approver', {}, 'http://192.0.2.7:8080', 'http://192.0.2.7:8080')
    expect(response.status).toBe(200)
  })
})

test('the page is behind the guards and accepts no other method', async () => {
  const service = await startTestService()
  const ask = (init: RequestInit) => service.app.request('http://localhost:8080/approver', init)
  expect((await ask({ headers: { host: 'evil.example' } })).status).toBe(403)
  const posted = await ask({ method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  await service.close()
})
