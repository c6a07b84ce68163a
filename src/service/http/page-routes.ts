import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from 'hono'
import { Refusal } from '../../core/refusal.ts'
import { isLoopbackAddress } from '../../core/loopback.ts'
import { siteAt } from '../devices/site.ts'
import { sendStatic, staticFile, type StaticFile } from './static-file.ts'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
}

/** The one Trusted Types policy of the page: it admits its service worker. */
const workerPolicy = 'svc-worker'

const headers = {
  'cache-control': 'no-cache',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${workerPolicy}`,
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'publickey-credentials-get=(self), publickey-credentials-create=(self), geolocation=(self), camera=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'service-worker-allowed': '/approver',
  'x-content-type-options': 'nosniff',
}

/** Beside the built program; in the source tree, where the build puts it. */
const folder = (): string | undefined => {
  const here = dirname(fileURLToPath(import.meta.url))
  return [join(here, 'approver'), join(here, '../../../dist/approver')].find((one) =>
    existsSync(join(one, 'index.html')),
  )
}

const keep = (file: string): StaticFile =>
  staticFile(types[extname(file)] ?? 'application/octet-stream', readFileSync(file))

/** Each file by its name below the folder, `/` between its parts; read once, so no request ever names a path. */
const readFiles = (from: string): Map<string, StaticFile> =>
  new Map(
    readdirSync(from, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const file = join(entry.parentPath, entry.name)
        return [file.slice(from.length + 1).replaceAll('\\', '/'), keep(file)]
      }),
  )

const sendPage = (context: Context, file: StaticFile, id: string): Response =>
  sendStatic(context, file, { ...headers, 'x-request-id': id })

const notBuilt = (): Refusal =>
  new Refusal(503, 'page_missing', 'The approver page is not built', { hint: 'npm run build' })

type PageRoute = { path: string; respond(context: Context, requestId: string): Response }

/** The approver page and its files, all in memory. */
export const createPageRoutes = (
  { publicUrl }: { publicUrl: string },
  from: string | undefined = folder(),
): PageRoute[] => {
  const files = from === undefined ? new Map<string, StaticFile>() : readFiles(from)
  const index = files.get('index.html')

  const page: PageRoute['respond'] = (context, id) => {
    // WebAuthn wants a name; what stands behind the `#` comes along by itself.
    const { hostname } = new URL(context.req.url)
    const site = siteAt(publicUrl)
    if (site && isLoopbackAddress(hostname))
      return new Response(null, {
        status: 302,
        headers: { ...headers, location: `${site.origin}/approver`, 'x-request-id': id },
      })
    if (!index) throw notBuilt()
    return sendPage(context, index, id)
  }

  return [
    { path: '/approver', respond: page },
    { path: '/approver/', respond: page },
    ...[...files].map(([name, file]) => ({
      path: `/approver/${name}`,
      respond: (context: Context, id: string) => sendPage(context, file, id),
    })),
  ]
}
