import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Context } from 'hono'
import { openApiInParts } from '../../contract/openapi.ts'
import type { MountedRoute } from './routes.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** A file that is the same for every client, in memory. */
export type StaticFile = { type: string; etag: string; plain: Bytes; gzip(): Bytes }

export const staticFile = (type: string, content: string | Uint8Array): StaticFile => {
  const plain: Bytes =
    typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)
  let packed: Bytes | undefined
  return {
    type,
    // Weak: the same for both encodings.
    etag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    // At the first request, to keep the start fast.
    gzip: () => (packed ??= new Uint8Array(gzipSync(plain, { level: 9 }))),
  }
}

const takesGzip = (context: Context): boolean => {
  const coding = context.req
    .header('accept-encoding')
    ?.split(',')
    .map((one) => one.trim().toLowerCase())
    .find((one) => one === 'gzip' || one.startsWith('gzip;'))
  return coding !== undefined && !/;\s*q=0(?:\.0*)?$/.test(coding)
}

/** Responds with 200, or with 304 to a client that has the same version. */
export const sendStatic = (
  context: Context,
  { type, etag, plain, gzip }: StaticFile,
  headers: Record<string, string>,
): Response => {
  const common = { ...headers, etag, vary: 'accept-encoding' }
  const known = context.req.header('if-none-match')?.split(',') ?? []
  if (known.some((one) => one.trim() === etag)) return new Response(null, { status: 304, headers: common })
  return takesGzip(context)
    ? new Response(gzip(), { headers: { ...common, 'content-type': type, 'content-encoding': 'gzip' } })
    : new Response(plain, { headers: { ...common, 'content-type': type } })
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
