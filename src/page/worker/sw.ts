import { fileOf } from '../language/languages.ts'
import { clear, notify } from './notify.ts'
import { pageLanguage } from './push-text.ts'

const worker = globalThis as unknown as ServiceWorkerGlobalScope

const page = '/approver'

/** Filled in by the build: a version for all files of the page together, and the SHA-256 of each. */
declare const SHELL: { version: string; hashes: Record<string, string> }
const { version, hashes } = SHELL

/** Needed to start, with the texts of one language. The others are cached once they are used. */
const needed = ['index.html', 'app.js', 'style.css', 'manifest.webmanifest', 'icon.svg', 'icon-192.png']

const prefix = 'approver-'
const cacheOf = (one: string): string => prefix + one
const pathOf = (file: string): string => (file === 'index.html' ? page : `${page}/${file}`)

/**
 * Reads a file of this version. Its hash is checked, so a node of another version and a captive portal are never cached.
 * The copy that the browser has already is taken if it is the right one.
 */
const load = (file: string): Promise<Response> => {
  const integrity = hashes[file]!
  const read = async (cache: RequestCache): Promise<Response> => {
    const asked = /\.(?:js|css|json)$/.test(file) ? `?v=${version}` : ''
    const response = await fetch(pathOf(file) + asked, { integrity, cache })
    if (!response.ok) throw new Error(`${file}: ${response.status}`)
    return response
  }
  return read('force-cache').catch(() => read('reload'))
}

const keep = async (file: string, loaded: Response): Promise<void> =>
  (await caches.open(cacheOf(version))).put(pathOf(file), loaded)

/** Fails if storage is full. */
const loadAndKeep = async (file: string): Promise<void> => keep(file, await load(file))

// A complete new version takes over at once. A page that is open goes on with the files of its own version.
worker.addEventListener('install', (event) => {
  void worker.skipWaiting()
  const texts = pageLanguage().then((language) => loadAndKeep(fileOf(language)))
  event.waitUntil(Promise.all([...needed.map(loadAndKeep), texts]))
})

worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()))

/** Deletes the other versions if no page is open that may need them. */
const dropOthers = async (): Promise<void> => {
  const open = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
  if (open.some(({ url }) => new URL(url).pathname.startsWith(page))) return
  for (const name of await caches.keys())
    if (name.startsWith(prefix) && name !== cacheOf(version)) await caches.delete(name)
}

/** From the cache at once. The browser looks for a new worker, which brings a new version, at each start of the page. */
const answer = async (file: string, wanted: string, request: Request): Promise<Response> => {
  const kept = await caches.match(pathOf(file), { cacheName: cacheOf(wanted) })
  if (kept) return kept
  if (wanted !== version || needed.includes(file)) return fetch(request)
  const loaded = await load(file)
  await keep(file, loaded.clone()).catch(() => undefined)
  return loaded
}

const fileAt = (pathname: string): string | undefined => {
  if (pathname === page || pathname === `${page}/`) return 'index.html'
  const name = pathname.startsWith(`${page}/`) ? pathname.slice(page.length + 1) : ''
  return Object.hasOwn(hashes, name) ? name : undefined
}

// Answers of the service are never cached: only requests for files of the page are answered here.
worker.addEventListener('fetch', (event) => {
  const { origin, pathname, searchParams } = new URL(event.request.url)
  if (event.request.method !== 'GET' || origin !== worker.location.origin) return
  const file = fileAt(pathname)
  if (file === undefined) return
  const isStart = event.request.mode === 'navigate'
  if (isStart) event.waitUntil(dropOthers())
  event.respondWith(answer(file, (!isStart && searchParams.get('v')) || version, event.request))
})

worker.addEventListener('push', (event) => event.waitUntil(notify(worker, event.data, pathOf)))

// From a page that has read what is pending.
worker.addEventListener('message', (event) => {
  const pending = (event.data as { pending?: unknown } | null)?.pending
  if (Array.isArray(pending)) event.waitUntil(clear(worker, pending))
})

const open = async (requestId: string, place: string): Promise<void> => {
  const windows = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const there = windows.find(({ url }) => fileAt(new URL(url).pathname) === 'index.html')
  if (!there) {
    await worker.clients.openWindow(
      requestId ? `${page}#request=${encodeURIComponent(requestId)}` : page + place,
    )
    return
  }
  if (requestId) there.postMessage({ request_id: requestId }, {})
  await there.focus()
}

worker.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const { request_id = '', place = '' } = (event.notification.data ?? {}) as {
    request_id?: string
    place?: string
  }
  event.waitUntil(open(request_id, place))
})
