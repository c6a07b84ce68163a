import { showBadge } from './badge.ts'

/** Tags of notifications that are not about a request. */
const notices = new Set(['devices', 'report', 'test'])

/** Removes the notifications of requests that are no longer pending. */
const clearNotifications = async (pending: ReadonlySet<string>): Promise<void> => {
  // A browser that blocks storage refuses this, too.
  const registration = await navigator.serviceWorker?.getRegistration('/approver').catch(() => undefined)
  for (const shown of (await registration?.getNotifications()) ?? [])
    if (!notices.has(shown.tag) && !pending.has(shown.tag)) shown.close()
}

/** Outside of the page: the number on its icon, and the notifications that are still true. */
export const mirrorPending = (requests: readonly { request_id: string }[]): void => {
  void showBadge(requests.length)
  void clearNotifications(new Set(requests.map(({ request_id }) => request_id)))
}
