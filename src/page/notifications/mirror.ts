import { showBadge } from './badge.ts'

/** Has the worker remove the notifications of requests that are no longer pending. */
const clearNotifications = async (pending: string[]): Promise<void> => {
  // A browser that blocks storage refuses this, too.
  const registration = await navigator.serviceWorker?.getRegistration('/approver').catch(() => undefined)
  registration?.active?.postMessage({ pending })
}

/** Outside of the page: the number on its icon, and the notifications that are still true. */
export const mirrorPending = (requests: readonly { request_id: string }[]): void => {
  void showBadge(requests.length)
  void clearNotifications(requests.map(({ request_id }) => request_id))
}
