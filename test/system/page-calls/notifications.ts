import { createHash } from 'node:crypto'
import { dataOf } from '../../service/fixtures.ts'
import { subscribeBrowser } from '../../service/page/push-service.ts'
import type { Phone } from '../page-phone.ts'
import { alert, type Scenario, type Scene, visible } from './scene.ts'

// Headless Chromium has no push service, so the scenario sets the subscription of the browser.

const subscriptionAt = (path: string): string => {
  const { endpoint, keys } = subscribeBrowser(`http://127.0.0.1:9${path}`).subscription
  return JSON.stringify({ endpoint, keys })
}

const pretending = (path: string): string => `
  let present = ${subscriptionAt(path)}
  const opened = () => ({ toJSON: () => present, unsubscribe: async () => { present = null } })
  PushManager.prototype.getSubscription = async () => present && opened()
  PushManager.prototype.subscribe = async () => { present = ${subscriptionAt(path)}; return opened() }
  Notification.requestPermission = async () => 'granted'
  Object.defineProperty(Notification, 'permission', { get: () => 'granted' })`

/** A phone at its settings for notifications, which the person has turned on or off. */
const atSettings = async (scene: Scene, wish: 'on' | 'off'): Promise<Phone> => {
  const phone = await scene.enrolled(await scene.stage.person())
  await phone.page.evaluate(`localStorage.setItem('svc-notifications', '${wish}')`)
  await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
  await phone.context.addInitScript(pretending('/p'))
  await phone.page.reload()
  await visible(phone.page.getByText(wish === 'on' ? 'Notifications: on' : 'Turn on notifications'))
  await scene.show(phone, 'notifications')
  await phone.sees('Notifications')
  return phone
}

/** Whether the service sends to this endpoint. */
const sendsTo = async ({ page }: Phone, path: string): Promise<number> => {
  const body = await page.evaluate(`fetch('/svc/v1/approver/session').then((one) => one.json())`)
  const hash = createHash('sha256').update(`http://127.0.0.1:9${path}`).digest('hex')
  return dataOf({ status: 200, body } as never).push_hashes.filter((one: string) => one === hash).length
}

export const notifications: Record<string, Scenario> = {
  subscribePush: async (scene) => {
    const phone = await atSettings(scene, 'off')
    return {
      phone,
      tap: () => phone.tap('Turn on notifications'),
      says: () => alert(phone, 'Can’t reach the service'),
      done: () => visible(phone.page.getByText('This device gets a notification for each request')),
      happened: () => sendsTo(phone, '/p'),
    }
  },
  // The browser ends its subscription in any case, and the push service tells the service.
  unsubscribePush: async (scene) => {
    const phone = await atSettings(scene, 'on')
    const off = () => visible(phone.page.getByText('This device gets no notifications.'))
    return {
      phone,
      tap: () => phone.tap('Turn off notifications'),
      says: off,
      again: async () => {
        await phone.tap('Turn on notifications')
        await visible(phone.page.getByText('This device gets a notification for each request'))
        await phone.tap('Turn off notifications')
      },
      done: off,
    }
  },
  testPush: async (scene) => {
    const phone = await atSettings(scene, 'on')
    return {
      phone,
      tap: () => phone.tap('Send a test notification'),
      says: () => alert(phone, 'Can’t reach the service'),
      done: () => visible(phone.page.getByText('Sent. It usually appears')),
    }
  },
}
