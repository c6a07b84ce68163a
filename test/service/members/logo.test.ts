import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../../src/core/refusal.ts'
import { createLogoRoute } from '../../../src/service/http/logo-route.ts'
import { acme, installHooks, service } from '../acme.ts'
import { auditOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import { pixel } from '../../pixel.ts'

installHooks()

const png = Buffer.from(pixel, 'base64')

/** The same image, with another width in its header. */
const wide = (width: number): Buffer => {
  const bytes = Buffer.from(png)
  bytes.writeUInt32BE(width, 16)
  return bytes
}

/** An extended WebP image of 512 by 300 pixels, with these flags. */
const webp = (flags = 0): Buffer => {
  const bytes = Buffer.alloc(30)
  bytes.write('RIFF', 0, 'latin1')
  bytes.writeUInt32LE(22, 4)
  bytes.write('WEBPVP8X', 8, 'latin1')
  bytes.writeUInt32LE(10, 16)
  bytes[20] = flags
  bytes.writeUIntLE(511, 24, 3)
  bytes.writeUIntLE(299, 27, 3)
  return bytes
}

const set = (bytes: Buffer, org = acme.id, key = acme.key) =>
  service.call('POST', `/svc/v1/organizations/${org}/logo`, {
    key,
    body: { image: bytes.toString('base64') },
  })
const remove = () => service.call('DELETE', `/svc/v1/organizations/${acme.id}/logo`)

const read = async (path: string): Promise<Response> => {
  const app = new Hono()
  app.onError((error) => new Response(null, { status: error instanceof Refusal ? error.status : 500 }))
  const route = createLogoRoute({ storage: service.storage })
  app.get(route.path, (context) => route.respond(context, { id: 'req_1' }))
  return app.request(path)
}

describe('the logo of an organization', () => {
  test('is served at a path that names its bytes, and can do nothing else', async () => {
    const { path, ...data } = dataOf(await set(png))
    expect(data).toEqual({ type: 'image/png', width: 1, height: 1, bytes: png.length })
    expect(path).toMatch(new RegExp(`^/approver/logo/${acme.id}/[0-9a-f]{64}$`))
    const response = await read(path)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(png)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, max-age=31536000, immutable',
    })
  })

  test('replaces the one before, and both changes are in the audit log', async () => {
    const { path } = dataOf(await set(png))
    const next = dataOf(await set(webp()))
    expect(next).toMatchObject({ type: 'image/webp', width: 512, height: 300 })
    expect((await read(path)).status).toBe(404)
    dataOf(await remove())
    expect((await read(next.path)).status).toBe(404)
    expect((await remove()).status).toBe(404)
    expect((await auditOf(service, acme.id)).slice(-3)).toEqual([
      ['setLogo', `organization:${acme.id}`, ['logo']],
      ['setLogo', `organization:${acme.id}`, ['logo']],
      ['removeLogo', `organization:${acme.id}`, ['logo']],
    ])
  })

  test.each([
    ['an SVG image', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')],
    ['a PNG image that was cut', png.subarray(0, -5)],
    ['a PNG image with something behind it', Buffer.concat([png, Buffer.from('<script>')])],
    ['an animated WebP image', webp(2)],
    ['a WebP image with something behind it', Buffer.concat([webp(), Buffer.from('more')])],
    ['513 pixels', wide(513)],
    ['no pixels', wide(0)],
    ['more than 32 KB', Buffer.alloc(32 * 1024 + 1)],
  ])('is refused: %s', async (_, bytes) => {
    expect(refusal(await set(bytes))).toEqual([422, 'invalid_field', ['image']])
  })

  test('belongs to its organization alone', async () => {
    const other = await createTenant(service, 'other')
    expect((await set(png, other.id)).status).toBe(404)
    const { path } = dataOf(await set(png))
    expect((await read(path.replace(`/${acme.id}/`, `/${other.id}/`))).status).toBe(404)
  })
})
