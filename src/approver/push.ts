import { base64URLStringToBuffer } from '@simplewebauthn/browser'
import { call, type Session } from './api.ts'

const worker = '/approver/sw.js'

type TrustedTypes = {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string }
}

/** The Trusted Types policy for the address of the worker, the only policy of the page. */
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

/** Registers the worker: the shell works offline, and push messages arrive while the page is closed. */
export const registerWorker = async (open: (requestId: string) => void): Promise<void> => {
  if (!('serviceWorker' in navigator)) return
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    const id = (data as { request_id?: unknown } | null)?.request_id
    if (typeof id === 'string') open(id)
  })
  await navigator.serviceWorker.register(trustedWorker(), { scope: '/approver' }).catch(() => undefined)
}

type Offer = 'possible' | 'install first' | 'impossible'

/** Whether this phone supports notifications and does not get them yet. */
export const notificationOffer = ({ push_key, subscribed }: Session): Offer => {
  if (push_key === null || subscribed) return 'impossible'
  if ('PushManager' in globalThis && 'Notification' in globalThis)
    return Notification.permission === 'denied' ? 'impossible' : 'possible'
  // iOS supports them only for pages on the home screen.
  return /iPhone|iPad/.test(navigator.userAgent) ? 'install first' : 'impossible'
}

/** Asks the phone for permission, then subscribes at the service. Returns the reason if it fails, as a sentence. */
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

/** Removes the notifications of requests that are no longer pending. */
export const clearNotifications = async (pending: ReadonlySet<string>): Promise<void> => {
  const registration = await navigator.serviceWorker?.getRegistration('/approver')
  for (const shown of (await registration?.getNotifications()) ?? [])
    if (shown.tag !== 'devices' && !pending.has(shown.tag)) shown.close()
}
