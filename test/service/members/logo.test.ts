import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../../src/core/refusal.ts'
import { createLogoRoute } from '../../../src/service/http/logo-route.ts'
import { logoPath } from '../../../src/service/members/logo.ts'
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

const set = (bytes: Buffer, org = acme.id, key = acme.key) =>
  service.call('POST', `/svc/v1/organizations/${org}/logo`, {
    key,
    body: { image: bytes.toString('base64') },
  })
/** Sets it, and returns where the page finds it. */
const setTo = async (bytes: Buffer): Promise<string> => {
  dataOf(await set(bytes))
  return (await service.storage.read((db) => logoPath(db, acme.id)))!
}
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
    const path = await setTo(png)
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
    const path = await setTo(png)
    const next = await setTo(wide(512))
    expect((await read(path)).status).toBe(404)
    dataOf(await remove())
    expect((await read(next)).status).toBe(404)
    expect((await remove()).status).toBe(404)
    expect((await auditOf(service, acme.id)).slice(-3)).toEqual([
      ['setLogo', `organization:${acme.id}`, ['logo']],
      ['setLogo', `organization:${acme.id}`, ['logo']],
      ['removeLogo', `organization:${acme.id}`, ['logo']],
    ])
  })

  test('is kept without the place, the author and other data of the file', async () => {
    const path = await setTo(withPart(withPart(withPart(png, part('eXIf')), part('tEXt')), part('prVt')))
    expect(Buffer.from(await (await read(path)).arrayBuffer())).toEqual(png)
  })

  test.each([
    ['an SVG image', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')],
    ['a PNG image that was cut', png.subarray(0, -5)],
    ['a PNG image with something behind it', Buffer.concat([png, Buffer.from('<script>')])],
    ['a PNG image with two headers', withPart(png, wide(513).subarray(8, headerEnd))],
    ['a PNG image with a part that is longer than the file', withPart(png, Buffer.from('7fffffff', 'hex'))],
    ['an animated PNG image', withPart(png, part('acTL'))],
    ['513 pixels', wide(513)],
    ['a WebP image', Buffer.from('RIFF\u0016\u0000\u0000\u0000WEBPVP8L')],
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
    const path = await setTo(png)
    expect((await read(path.replace(`/${acme.id}/`, `/${other.id}/`))).status).toBe(404)
  })
})
