import { base64URLStringToBuffer } from '@simplewebauthn/browser'
import { call, type Session } from './api.ts'

const worker = '/approver/sw.js'

type TrustedTypes = {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string }
}

/** The address of the worker for a browser that takes only what a policy admits. The page has no other policy. */
const trustedWorker = (): string => {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  const rules = {
    createScriptURL: (url: string) => {
      if (url === worker) return url
      throw new TypeError('Not the service worker')
    },
  }
  return trustedTypes?.createPolicy('svc-worker', rules).createScriptURL(worker) ?? worker
}

/** The shell works offline, and a push finds the page when it is closed. */
export const registerWorker = async (open: (requestId: string) => void): Promise<void> => {
  if (!('serviceWorker' in navigator)) return
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    const id = (data as { request_id?: unknown } | null)?.request_id
    if (typeof id === 'string') open(id)
  })
  await navigator.serviceWorker.register(trustedWorker(), { scope: '/approver' }).catch(() => undefined)
}

type Offer = 'possible' | 'install first' | 'impossible'

/** Whether this phone could get notifications and does not yet. */
export const notificationOffer = ({ push_key, subscribed }: Session): Offer => {
  if (push_key === null || subscribed) return 'impossible'
  if ('PushManager' in globalThis && 'Notification' in globalThis)
    return Notification.permission === 'denied' ? 'impossible' : 'possible'
  // An iPhone gives them only to what stands on its home screen.
  return /iPhone|iPad/.test(navigator.userAgent) ? 'install first' : 'impossible'
}

/** Asks the phone, then tells the service. Answers why not, in a sentence, or undefined. */
export const turnOnNotifications = async (session: Session): Promise<string | undefined> => {
  if ((await Notification.requestPermission()) !== 'granted')
    return 'Notifications are off. Open this page when you expect a request.'
  try {
    const { pushManager } = await navigator.serviceWorker.ready
    const { endpoint, keys } = (
      await pushManager.subscribe({
        userVisibleOnly: true,
        applicationServerKey: base64URLStringToBuffer(session.push_key!),
      })
    ).toJSON()
    await call('subscribePush', {
      endpoint: endpoint ?? '',
      keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' },
    })
    session.subscribed = true
    return undefined
  } catch {
    return 'Couldn’t turn on notifications. Try again from the list of requests.'
  }
}

/** Takes away the notifications of requests that wait no more. */
export const clearNotifications = async (pending: ReadonlySet<string>): Promise<void> => {
  const registration = await navigator.serviceWorker?.getRegistration('/approver')
  for (const shown of (await registration?.getNotifications()) ?? [])
    if (shown.tag !== 'devices' && !pending.has(shown.tag)) shown.close()
}
