const worker = globalThis as unknown as ServiceWorkerGlobalScope

const page = '/approver'
const shell = [
  page,
  ...['app.js', 'style.css', 'manifest.webmanifest', 'icon.svg', 'icon-192.png'].map(
    (file) => `${page}/${file}`,
  ),
]
const cacheName = 'approver-shell'

worker.addEventListener('install', (event) => {
  void worker.skipWaiting()
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(shell)))
})

worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()))

// The network first, so that page and service have the same release; the cached shell without a network.
const shellOf = async (request: Request, key: string): Promise<Response> => {
  const cache = await caches.open(cacheName)
  try {
    const fresh = await fetch(request)
    if (fresh.ok && !fresh.redirected) await cache.put(key, fresh.clone())
    return fresh
  } catch (error) {
    const kept = await cache.match(key)
    if (kept) return kept
    throw error
  }
}

// Answers of the service are never cached: only requests for the shell get here.
worker.addEventListener('fetch', (event) => {
  const { origin, pathname } = new URL(event.request.url)
  if (event.request.method === 'GET' && origin === worker.location.origin && shell.includes(pathname))
    event.respondWith(shellOf(event.request, pathname))
})

type PushData =
  | { request_id?: unknown; organization?: unknown; test?: unknown; notice?: unknown }
  | null
  | undefined

const readPush = (data: PushMessageData | null): PushData => {
  try {
    return data?.json() as PushData
  } catch {
    return undefined
  }
}

// Push messages do not contain the request, so the notification cannot show it.
worker.addEventListener('push', (event) => {
  const push = readPush(event.data)
  const requestId = typeof push?.request_id === 'string' ? push.request_id : ''
  const isNotice = push?.notice === 'devices'
  const organization = typeof push?.organization === 'string' ? push.organization : ''
  const [what, body] =
    push?.test === true
      ? ['A test', 'Notifications work on this device.']
      : isNotice
        ? ['Your devices changed', 'Open to see what changed. If it wasn’t you, refuse or revoke it.']
        : ['A request is waiting', 'Open to see the request.']
  const title = organization ? `${organization}: ${what.slice(0, 1).toLowerCase()}${what.slice(1)}` : what
  event.waitUntil(
    worker.registration.showNotification(title, {
      body,
      tag: isNotice ? 'devices' : requestId,
      icon: `${page}/icon-192.png`,
      requireInteraction: true,
      data: { request_id: requestId, place: isNotice ? '#devices' : '' },
    }),
  )
})

// The page repeats this at its next start, with the key that the service has then.
worker.addEventListener('pushsubscriptionchange', (event) => {
  const change = event as ExtendableEvent & {
    oldSubscription?: PushSubscription | null
    newSubscription?: PushSubscription | null
  }
  change.waitUntil(replaceSubscription(change.oldSubscription, change.newSubscription))
})

type Answer = { data?: { organizations?: number[] } }

const call = (path: string, organization: number | undefined, body?: object): Promise<Response> =>
  fetch(`/svc/v1/approver/${path}`, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      'content-type': 'application/json',
      ...(organization !== undefined && { 'x-svc-organization': String(organization) }),
    },
  })

/** The browser dropped its subscription: every organization of this phone gets the new one. */
const replaceSubscription = async (
  old: PushSubscription | null | undefined,
  replaced: PushSubscription | null | undefined,
): Promise<void> => {
  const key = old?.options.applicationServerKey
  const next =
    replaced ??
    (key &&
      (await worker.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })))
  if (!next) return
  const { endpoint, keys } = next.toJSON()
  const { data } = (await (await call('session', undefined)).json()) as Answer
  for (const organization of data?.organizations ?? []) await call('push', organization, { endpoint, keys })
}

const open = async (requestId: string, place: string): Promise<void> => {
  const windows = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const there = windows.find(({ url }) => new URL(url).pathname === page)
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
  const { request_id, place = '' } = event.notification.data as { request_id: string; place?: string }
  event.waitUntil(open(request_id, place))
})
