import { showBadge } from '../notifications/badge.ts'
import { readQuietHours } from '../notifications/quiet-hours.ts'
import { isQuiet } from '../notifications/quiet-time.ts'
import { pushTexts } from './push-text.ts'

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

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Shows a push message as a notification. The message does not contain the request, so the notification cannot show it. */
export const notify = async (
  { registration, clients }: ServiceWorkerGlobalScope,
  data: PushMessageData | null,
  pathOf: (file: string) => string,
): Promise<void> => {
  const push = readPush(data)
  const requestId = textOf(push?.request_id)
  const organization = textOf(push?.organization)
  const isTest = push?.test === true
  const notice = push?.notice === 'devices' || push?.notice === 'report' ? push.notice : undefined
  const kind = isTest ? 'test' : (notice ?? 'request')
  const text = await pushTexts(pathOf)
  await registration.showNotification(organization ? text(`${kind}In`, { organization }) : text(kind), {
    body: text(`${kind}Body`),
    tag: kind === 'request' ? requestId : kind,
    icon: '/approver/icon-192.png',
    requireInteraction: true,
    silent: isQuiet(await readQuietHours(), new Date()),
    data: { request_id: requestId, place: notice === 'devices' ? '#devices' : '' },
  })
  if (kind === 'request') {
    const shown = await registration.getNotifications()
    // Only as many are known here as have a notification.
    await showBadge(shown.filter(({ data: { request_id } }) => request_id).length)
  }
  if (isTest)
    for (const page of await clients.matchAll({ type: 'window' })) page.postMessage({ test: true }, {})
}
