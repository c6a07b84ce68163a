import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from 'hono'
import { Refusal } from '../../core/refusal.ts'
import { isLoopbackAddress } from '../../core/loopback.ts'
import { siteAt } from '../devices/site.ts'
import type { MountedRoute } from './routes.ts'
import { sendStatic, staticFile, type StaticFile } from './static-file.ts'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}

/** The only Trusted Types policy of the page: it allows the service worker. */
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

/** Next to the built program, or in `dist` when the source tree is run. */
const findFolder = (): string | undefined => {
  const here = dirname(fileURLToPath(import.meta.url))
  return [join(here, 'page'), join(here, '../../../dist/page')].find((one) =>
    existsSync(join(one, 'index.html')),
  )
}

const compressed = '.br'

/** Each file by its name below the folder, with `/` between the parts. Read once, so no request ever names a path. */
const readFiles = (from: string): Map<string, StaticFile> => {
  const found = new Map(
    readdirSync(from, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const file = join(entry.parentPath, entry.name)
        return [file.slice(from.length + 1).replaceAll('\\', '/'), readFileSync(file)]
      }),
  )
  return new Map(
    [...found]
      .filter(([name]) => !name.endsWith(compressed))
      .map(([name, content]) => {
        const type = types[extname(name)] ?? 'application/octet-stream'
        return [name, staticFile(type, content, found.get(name + compressed))]
      }),
  )
}

/** The page of this program, which all services of a process share. */
let built: Map<string, StaticFile> | undefined
const builtFiles = (): Map<string, StaticFile> => {
  const folder = findFolder()
  return (built ??= folder === undefined ? undefined : readFiles(folder)) ?? new Map()
}

const sendPage = (context: Context, file: StaticFile, id: string, more = {}): Response =>
  sendStatic(context, file, { ...headers, ...more, 'x-request-id': id })

/** The approver page and its files, all in memory. */
export const createPageRoutes = ({ publicUrl }: { publicUrl: string }, from?: string): MountedRoute[] => {
  const files = from === undefined ? builtFiles() : readFiles(from)
  const index = files.get('index.html')
  const version = /app\.js(\?v=[\w-]+)/.exec(index ? new TextDecoder().decode(index.plain) : '')?.[1] ?? ''

  /** Lets a browser load the texts with the script, which asks for them by the same languages. */
  const preloadOf = (accepted = ''): string => {
    const codes = accepted.split(',').map((one) => /^[a-z]*/i.exec(one.trim())![0].toLowerCase())
    const texts = `${codes.find((code) => files.has(`${code}.json`)) ?? 'en'}.json`
    return `</approver/${texts}${version}>; rel=preload; as=fetch; crossorigin`
  }

  const page: MountedRoute['respond'] = (context, { id }) => {
    // WebAuthn requires a host name. A browser keeps the part after `#` across a redirect.
    const { hostname } = new URL(context.req.url)
    const site = siteAt(publicUrl)
    if (site && isLoopbackAddress(hostname))
      return new Response(null, {
        status: 302,
        headers: { ...headers, location: `${site.origin}/approver`, 'x-request-id': id },
      })
    if (!index)
      throw new Refusal(503, 'page_missing', 'The approver page is not built', { hint: 'npm run build' })
    const link = preloadOf(context.req.header('accept-language'))
    return sendPage(context, index, id, { link, vary: 'accept-encoding, accept-language' })
  }

  return [
    {
      method: 'GET',
      path: '/',
      respond: (_, { id }) =>
        new Response(null, { status: 302, headers: { location: '/approver', 'x-request-id': id } }),
    },
    { method: 'GET', path: '/approver', respond: page },
    { method: 'GET', path: '/approver/', respond: page },
    ...[...files].map(([name, file]): MountedRoute => ({
      method: 'GET',
      path: `/approver/${name}`,
      respond: (context, { id }) => sendPage(context, file, id),
    })),
  ]
}
