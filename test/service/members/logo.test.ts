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

/** A part of a PNG image. */
const part = (name: string, content = 'Taken at 52.52, 13.40 <script>'): Buffer => {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(content.length)
  return Buffer.concat([size, Buffer.from(name + content), Buffer.alloc(4)])
}
const headerEnd = 33
const withPart = (bytes: Buffer, more: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, headerEnd), more, bytes.subarray(headerEnd)])

const chunk = (name: string, content: Buffer): Buffer => {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(content.length)
  return Buffer.concat([Buffer.from(name), size, content, Buffer.alloc(content.length % 2)])
}
const riff = (...chunks: Buffer[]): Buffer => chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]))

const frame = (width: number, height: number): Buffer => {
  const content = Buffer.alloc(9)
  content[0] = 0x2f
  content.writeUInt32LE((width - 1) | ((height - 1) << 14), 1)
  return chunk('VP8L', content)
}
const extended = (flags: number, width: number, height: number): Buffer => {
  const content = Buffer.alloc(10)
  content[0] = flags
  content.writeUIntLE(width - 1, 4, 3)
  content.writeUIntLE(height - 1, 7, 3)
  return chunk('VP8X', content)
}

/** An extended WebP image of 512 by 300 pixels, with these flags. */
const webp = (flags = 0): Buffer => riff(extended(flags, 512, 300), frame(512, 300))

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
    ['PNG', png, withPart(withPart(withPart(png, part('eXIf')), part('tEXt')), part('prVt'))],
    [
      'WebP',
      webp(),
      riff(
        extended(0b1100, 512, 300),
        frame(512, 300),
        chunk('EXIF', Buffer.from('52.52, 13.4')),
        chunk('XMP ', Buffer.from('<x:xmpmeta>')),
      ),
    ],
  ])('is kept without the place, the author and other data of a %s file', async (_, clean, described) => {
    const { path, bytes } = dataOf(await set(described))
    expect(bytes).toBe(clean.length)
    expect(Buffer.from(await (await read(path)).arrayBuffer())).toEqual(clean)
  })

  test.each([
    ['an SVG image', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')],
    ['a PNG image that was cut', png.subarray(0, -5)],
    ['a PNG image with something behind it', Buffer.concat([png, Buffer.from('<script>')])],
    ['an animated WebP image', webp(2)],
    ['a WebP image with something behind it', Buffer.concat([webp(), Buffer.from('more')])],
    ['a PNG image with two headers', withPart(png, wide(513).subarray(8, headerEnd))],
    ['a PNG image with a part that is longer than the file', withPart(png, Buffer.from('7fffffff', 'hex'))],
    ['an animated PNG image', withPart(png, part('acTL'))],
    ['a WebP image without an image', riff(extended(0, 512, 300))],
    ['a WebP image that is larger than it says', riff(extended(0, 1, 1), frame(16_384, 16_384))],
    ['a WebP image with two images', riff(extended(0, 9, 9), frame(9, 9), frame(16_384, 16_384))],
    ['513 pixels', wide(513)],
    ['30,000 pixels', riff(frame(16_384, 1))],
    ['no pixels', wide(0)],
    ['more than 32 KB', Buffer.alloc(32 * 1024 + 1)],
  ])('is refused: %s', async (_, bytes) => {
    expect(refusal(await set(bytes))).toEqual([422, 'invalid_field', ['image']])
  })

  test.each(['%00', '%F0', '..', 'a'.repeat(64)])('is not found at %s', async (hash) => {
    expect((await read(`/approver/logo/${acme.id}/${hash}`)).status).toBe(404)
  })

  test('belongs to its organization alone', async () => {
    const other = await createTenant(service, 'other')
    expect((await set(png, other.id)).status).toBe(404)
    const { path } = dataOf(await set(png))
    expect((await read(path.replace(`/${acme.id}/`, `/${other.id}/`))).status).toBe(404)
  })
})
