import { base64URLStringToBuffer } from '@simplewebauthn/browser'
import { call, Unreachable, type Session } from '../calls/api.ts'
import { quietly } from '../calls/confirmation.ts'
import { keep, readKept } from '../calls/kept.ts'
import { t } from '../language/text.ts'

/** Whether notifications of an organization reach this phone, or can. */
export type Offer = 'on' | 'possible' | 'blocked' | 'install first' | 'impossible'

/** The endpoint of this browser as the service knows it; undefined if it has none. */
let own: string | undefined

const isOn = ({ push_hashes }: Session): boolean => own !== undefined && push_hashes.includes(own)

/** What the service believes counts only as far as this browser agrees. */
export const notificationOffer = (session: Session): Offer => {
  if (session.push_key === null) return 'impossible'
  if ('PushManager' in globalThis && 'Notification' in globalThis) {
    if (Notification.permission === 'denied') return 'blocked'
    return Notification.permission === 'granted' && isOn(session) ? 'on' : 'possible'
  }
  // iOS supports them only for pages on the home screen.
  return /iPhone|iPad/.test(navigator.userAgent) ? 'install first' : 'impossible'
}

const hashOf = async (text: string): Promise<string> => {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** What the person wants on this device: `off`, although the browser allows them. */
const wish = 'svc-notifications'

const wishFor = (state: 'on' | 'off'): void => keep(wish, state)

const subscriptionHere = async (): Promise<PushSubscription | null | undefined> =>
  (await navigator.serviceWorker.getRegistration('/approver'))?.pushManager.getSubscription()

const keysOf = (subscription: PushSubscription) => {
  const { endpoint = '', keys } = subscription.toJSON()
  return { endpoint, keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } }
}

/** Tells each organization that does not know it where this browser gets its notifications. */
const report = async (
  subscription: PushSubscription,
  sessions: readonly Session[],
  make = <T>(work: () => T): T => work(),
): Promise<void> => {
  const body = keysOf(subscription)
  own = await hashOf(body.endpoint)
  for (const session of sessions) {
    if (session.push_key === null || isOn(session)) continue
    await make(() => call('subscribePush', body, { org: session.org_id }))
    session.push_hashes.push(own)
  }
}

const subscribe = async (key: string): Promise<PushSubscription> => {
  const { pushManager } = await navigator.serviceWorker.ready
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: base64URLStringToBuffer(key) })
}

/**
 * At each start: the browser may have replaced or dropped its subscription, and an organization may be new. A person who
 * never turned notifications on is not asked. Returns once it knows the subscription of the browser; `repaired` is called
 * after the service was told something.
 */
export const keepNotifications = async (
  sessions: readonly Session[],
  repaired: () => void,
): Promise<void> => {
  own = undefined
  const key = sessions.find(({ push_key }) => push_key !== null)?.push_key
  if (!key || !('PushManager' in globalThis) || !('Notification' in globalThis)) return
  if (Notification.permission !== 'granted' || readKept(wish) === 'off') return
  try {
    const present = await subscriptionHere()
    if (present) own = await hashOf(keysOf(present).endpoint)
    const wanted = sessions.filter((one) => one.push_key !== null && !isOn(one))
    if (wanted.length === 0 || (!present && !sessions.some(({ subscribed }) => subscribed))) return
    const repair = async (): Promise<void> => {
      const subscription = present ?? (await subscribe(key))
      // If one organization refuses, the others learn it all the same.
      await Promise.allSettled(wanted.map((one) => report(subscription, [one], quietly)))
      repaired()
    }
    // If it fails, the page offers to turn them on.
    void repair().catch(() => undefined)
  } catch {
    // The same.
  }
}

/** Calls `changed` when the person allows or blocks notifications in the settings of the browser. */
export const watchPermission = (changed: () => void): void =>
  void navigator.permissions
    ?.query({ name: 'notifications' })
    .then((state) => state.addEventListener('change', changed))
    .catch(() => undefined)

/** Chromium refuses like this in a private window, although the person gave the permission. */
const isNeverHere = (error: unknown): boolean =>
  error instanceof DOMException &&
  (error.name === 'NotAllowedError' || (error.name === 'AbortError' && /permission/i.test(error.message)))

/** Asks the phone for permission, then subscribes at the service. Returns the reason if it fails, as a sentence. */
export const turnOnNotifications = async (
  { push_key }: Session,
  sessions: readonly Session[],
): Promise<string | undefined> => {
  if ((await Notification.requestPermission()) !== 'granted') return t('notifications.off')
  try {
    await report(await subscribe(push_key!), sessions)
    wishFor('on')
    return undefined
  } catch (error) {
    if (error instanceof Unreachable) return error.message
    return t(isNeverHere(error) ? 'notifications.privateWindow' : 'notifications.failed')
  }
}

/**
 * Ends the subscription of this browser, for every organization. A service that cannot be told now learns it from the push
 * service.
 */
export const turnOffNotifications = async (sessions: readonly Session[]): Promise<void> => {
  wishFor('off')
  await (await subscriptionHere())?.unsubscribe()
  for (const session of sessions) {
    session.push_hashes = session.push_hashes.filter((hash) => hash !== own)
    await quietly(() => call('unsubscribePush', {}, { org: session.org_id })).catch(() => undefined)
  }
  own = undefined
}
