import { gzipSync } from 'node:zlib'
import type { Context } from 'hono'
import { openApiInParts } from '../../contract/openapi.ts'
import { sha256Base64url } from '../../core/ids.ts'
import type { MountedRoute } from './routes.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** A file that is the same for every client, in memory, in each coding that a client may accept. */
export type StaticFile = { type: string; etag: string; plain: Bytes; br: Bytes | undefined; gzip(): Bytes }

const bytesOf = (content: string | Uint8Array): Bytes =>
  typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)

/** `brotli` is the same content, compressed by the build: brotli at its best takes too long for a request. */
export const staticFile = (type: string, content: string | Uint8Array, brotli?: Uint8Array): StaticFile => {
  const plain = bytesOf(content)
  let packed: Bytes | undefined
  return {
    type,
    // Weak: the same for all codings.
    etag: `W/"${sha256Base64url(plain).slice(0, 22)}"`,
    plain,
    br: brotli && bytesOf(brotli),
    // At the first request, to keep the start fast.
    gzip: () => (packed ??= new Uint8Array(gzipSync(plain, { level: 9 }))),
  }
}

const takes = (context: Context, coding: string): boolean => {
  const listed = context.req
    .header('accept-encoding')
    ?.split(',')
    .map((one) => one.trim().toLowerCase())
    .find((one) => one === coding || one.startsWith(`${coding};`))
  return listed !== undefined && !/;\s*q=0(?:\.0*)?$/.test(listed)
}

/** Responds with 200, or with 304 to a client that has the same version. */
export const sendStatic = (
  context: Context,
  { type, etag, plain, br, gzip }: StaticFile,
  headers: Record<string, string>,
): Response => {
  const common = { vary: 'accept-encoding', ...headers, etag }
  const known = context.req.header('if-none-match')?.split(',') ?? []
  if (known.some((one) => one.trim() === etag)) return new Response(null, { status: 304, headers: common })
  const send = (bytes: Bytes, coding?: string): Response =>
    new Response(bytes, {
      headers: {
        ...common,
        'content-type': type,
        ...(coding !== undefined && { 'content-encoding': coding }),
      },
    })
  if (br && takes(context, 'br')) return send(br, 'br')
  return takes(context, 'gzip') ? send(gzip(), 'gzip') : send(plain)
}

const headers = { 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }

/** `/openapi.json`: built at the first request, one part in each turn of the event loop so that others are not blocked. */
export const createOpenApiRoute = (publicUrl: string): MountedRoute => {
  const prepare = async (): Promise<StaticFile> => {
    const parts = openApiInParts(publicUrl)
    for (;;) {
      const { done, value } = parts.next()
      if (done) return staticFile('application/json; charset=utf-8', JSON.stringify(value))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  let file: Promise<StaticFile> | undefined
  return {
    method: 'GET',
    path: '/openapi.json',
    respond: async (context, { id }) =>
      sendStatic(context, await (file ??= prepare()), { ...headers, 'x-request-id': id }),
  }
}
