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
