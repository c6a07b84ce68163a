import { showBadge } from '../notifications/badge.ts'
import { readQuietHours } from '../notifications/quiet-hours.ts'
import { isQuiet } from '../notifications/quiet-time.ts'
import { pushTexts } from './push-text.ts'

type PushData =
  | { request_id?: unknown; organization?: unknown; reminder?: unknown; test?: unknown; notice?: unknown }
  | null
  | undefined

const readPush = (data: PushMessageData | null): PushData => {
  try {
    return data?.json() as PushData
  } catch {
    return undefined
  }
}

/** Empty for what the service would not send. */
const idIn = (value: unknown): string =>
  typeof value === 'string' && /^apr_[\w-]{1,60}$/.test(value) ? value : ''

/** Empty for a name with control or invisible characters, which would change what the notification seems to say. */
const nameIn = (value: unknown): string =>
  typeof value === 'string' &&
  value.length <= 120 &&
  !/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(value)
    ? value
    : ''

/** What a push can say besides a request. */
const notices = ['devices', 'report', 'group', 'emergency', 'grant'] as const

let last: Promise<void> = Promise.resolve()

/** If all notifications are read while one is being shown, Chromium forgets that one, and a tap on it does nothing. */
const inTurn = (work: () => Promise<void>): Promise<void> => {
  const mine = last.then(work)
  last = mine.catch(() => undefined)
  return mine
}

type Shown = { request_id?: unknown; pending?: unknown } | null

const idOf = ({ data }: Notification): unknown => (data as Shown)?.request_id

const isOfRequest = ({ data }: Notification): boolean => (data as Shown)?.pending === true

const show = async (
  { registration, clients }: ServiceWorkerGlobalScope,
  push: PushData,
  pathOf: (file: string) => string,
): Promise<void> => {
  const organization = nameIn(push?.organization)
  const isTest = push?.test === true
  const notice = notices.find((known) => known === push?.notice)
  const kind = isTest ? 'test' : (notice ?? 'request')
  const requestId = kind === 'request' ? idIn(push?.request_id) : ''
  const text = await pushTexts(pathOf)
  await registration.showNotification(organization ? text(`${kind}In`, { organization }) : text(kind), {
    body: text(`${kind}Body`),
    // One without an id replaces the one before: a push service can send empty messages without end.
    tag: requestId || kind,
    icon: '/approver/icon-192.png',
    requireInteraction: true,
    // The notification of the request may still be there, and is replaced: without this, silently. TypeScript does not know it.
    ...({ renotify: push?.reminder === true } satisfies { renotify: boolean }),
    silent: isQuiet(await readQuietHours(), new Date()),
    data: {
      request_id: requestId,
      pending: kind === 'request',
      place: notice === 'devices' ? '#devices' : '',
    },
  })
  if (kind === 'request') {
    const shown = await registration.getNotifications()
    // Only as many are known here as have a notification.
    await showBadge(shown.filter(idOf).length)
  }
  if (isTest)
    for (const page of await clients.matchAll({ type: 'window' })) page.postMessage({ test: true }, {})
}

/** Shows a push message as a notification. The message does not contain the request, so the notification cannot show it. */
export const notify = (
  worker: ServiceWorkerGlobalScope,
  data: PushMessageData | null,
  pathOf: (file: string) => string,
): Promise<void> => inTurn(() => show(worker, readPush(data), pathOf))

/** Removes the notifications of requests that are not among these, and those that name none. */
export const clear = ({ registration }: ServiceWorkerGlobalScope, pending: unknown[]): Promise<void> =>
  inTurn(async () => {
    for (const shown of await registration.getNotifications())
      if (isOfRequest(shown) && !pending.includes(idOf(shown))) shown.close()
  })
