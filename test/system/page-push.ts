import { subscribeBrowser } from '../service/page/push-service.ts'
import type { Phone } from './page-phone.ts'
import { stage } from './open-stage.ts'

type Shown = { title: string; body: string; silent: boolean; tag: string }

const registrationOf = async ({ devtools }: Phone): Promise<string> => {
  const found = new Promise<string>((resolve) => {
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [one] }) => {
      if (one) resolve(one.registrationId)
    })
  })
  await devtools.send('ServiceWorker.disable')
  await devtools.send('ServiceWorker.enable')
  return found
}

/** All notifications of this phone. Only for when none is being shown: Chromium would forget that one. */
export const notifications = ({ page }: Phone): Promise<Shown[]> =>
  page.evaluate(`navigator.serviceWorker.ready.then((worker) => worker.getNotifications())
    .then((all) => all.map(({ title, body, silent, tag }) => ({ title, body, silent, tag })))`)

/** Delivers push messages, all at once, and returns all notifications after each was shown. */
export const push = async (phone: Phone, ...messages: object[]): Promise<Shown[]> => {
  const { context, devtools, page } = phone
  await context.grantPermissions(['notifications'], { origin: stage.origin })
  // Chromium drops a push to a worker that is still being installed.
  await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
  const registrationId = await registrationOf(phone)
  const [worker] = context.serviceWorkers()
  await worker!.evaluate(`{
    const { showNotification } = ServiceWorkerRegistration.prototype
    let left = ${messages.length}
    globalThis.allShown = new Promise((done) => {
      registration.showNotification = async (...values) => {
        await showNotification.apply(registration, values)
        left -= 1
        if (left === 0) done()
      }
    })
    undefined
  }`)
  const delivered = messages.map((message) =>
    devtools.send('ServiceWorker.deliverPushMessage', {
      origin: stage.origin,
      registrationId,
      data: JSON.stringify(message),
    }),
  )
  await Promise.all(delivered)
  await worker!.evaluate('allShown')
  return notifications(phone)
}

const subscriptionAt = (path: string) => {
  const { endpoint, keys } = subscribeBrowser(`http://127.0.0.1:9${path}`).subscription
  return { endpoint, keys }
}

/** From the next page on, the browser has this subscription and this permission. */
export const pretend = async (phone: Phone, permission: 'granted' | 'denied', path = '/p'): Promise<void> => {
  const subscription = JSON.stringify(subscriptionAt(path))
  await phone.context.addInitScript(`
    PushManager.prototype.getSubscription = async () => ({ toJSON: () => (${subscription}) })
    Object.defineProperty(Notification, 'permission', { get: () => '${permission}' })`)
  await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
  await phone.page.reload()
}
