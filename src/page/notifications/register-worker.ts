import { showBadge } from './badge.ts'

const worker = '/approver/sw.js'

type Rules = { createScriptURL(url: string): string }
type TrustedTypes = { createPolicy(name: string, rules: Rules): Rules }

/** The Trusted Types policy for the address of the worker, the only policy of the page. */
const trustedWorker = (): string => {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  const rules: Rules = {
    createScriptURL: (url) => {
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
