import { describe, expect, test } from 'vitest'
import { subscribeBrowser } from '../service/page/push-service.ts'
import type { Phone } from './page-phone.ts'
import { installHooks, open, stage } from './open-stage.ts'

// What the browser takes away while the page is open: its storage, and the permissions that its owner gave.

installHooks({ notifications: true })

const fillStorage = async ({ page, devtools }: Phone): Promise<void> => {
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: stage.origin, quotaSize: 1 })
  await page.evaluate(`(() => {
    for (let size = 1 << 20; size >= 1; size >>= 1)
      try { for (let n = 0; ; n++) localStorage.setItem('full' + size + '-' + n, 'x'.repeat(size)) } catch {}
  })()`)
}

const decides = async (phone: Phone, user: { mobile: string }): Promise<void> => {
  const { request_id } = await stage.ask(user)
  await open(phone, request_id)
  await phone.tap('Approve')
  await phone.sees('Approved')
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
}

/** Sets a permission as its owner does in the settings of the browser. */
const setPermission = async ({ devtools }: Phone, name: string, setting: 'granted' | 'denied') => {
  const { targetInfo } = await devtools.send('Target.getTargetInfo')
  const browser = await stage.browser.newBrowserCDPSession()
  await browser.send('Browser.setPermission', {
    permission: { name },
    setting,
    origin: stage.origin,
    browserContextId: targetInfo.browserContextId!,
  })
}

test('a page starts, whatever another version has kept', async () => {
  const phone = await stage.enrolled(await stage.person())
  for (const kept of ['null', '{}', '[null, 5, {"org_id": 7}]']) {
    await phone.page.evaluate(`localStorage.setItem('svc-organizations', '${kept}')`)
    await phone.page.reload()
    await phone.sees('No open requests')
  }
  expect(phone.misdeeds).toEqual([])
})

describe('storage that is full', () => {
  test('when the page comes leaves a page that registers, decides and starts again', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.page.goto(`${stage.origin}/approver`)
    await phone.sees('Sign in')
    await fillStorage(phone)
    await phone.page.goto('about:blank')
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this device')
    await stage.reachesInbox(phone)
    await decides(phone, user)
    await phone.page.reload()
    await phone.sees('Approved')
    expect(phone.misdeeds).toEqual([])
  })

  test('after it came still loads a language, and says that quiet hours are not kept', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { endpoint, keys } = subscribeBrowser('http://127.0.0.1:9/p').subscription
    await phone.context.addInitScript(`
      PushManager.prototype.getSubscription = async () => ({ toJSON: () => (${JSON.stringify({ endpoint, keys })}) })
      Object.defineProperty(Notification, 'permission', { get: () => 'granted' })`)
    await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await phone.page.reload()
    await phone.page.getByRole('link', { name: 'Notifications: on' }).click()
    await fillStorage(phone)
    await phone.page.getByLabel('Use quiet hours').check()
    await phone.page.getByText('This browser can’t store the setting.').waitFor()
    await phone.page.evaluate(`location.hash = ''`)
    await phone.sees('No open requests')
    await phone.page.locator('#language').selectOption({ label: 'Deutsch' })
    await phone.sees('Keine offenen Anfragen')
    expect(phone.misdeeds).toEqual([])
  })
})

describe('a permission that is taken away while the page is open', () => {
  test('for notifications is shown at once, where they are set and in the inbox', async () => {
    const phone = await stage.enrolled(await stage.person())
    const { endpoint, keys } = subscribeBrowser('http://127.0.0.1:9/p').subscription
    await phone.context.addInitScript(
      `PushManager.prototype.getSubscription = async () => ({ toJSON: () => (${JSON.stringify({ endpoint, keys })}) })`,
    )
    await setPermission(phone, 'notifications', 'granted')
    await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await phone.page.reload()
    const closes = phone.page.getByText('You’ll get a notification for each request')
    await closes.waitFor()
    await setPermission(phone, 'notifications', 'denied')
    await closes.waitFor({ state: 'detached' })
    await phone.page.getByRole('link', { name: 'Notifications: blocked' }).click()
    await phone.page.getByText('Notifications are blocked.').waitFor()
    await setPermission(phone, 'notifications', 'granted')
    await phone.tap('Send a test notification')
    await setPermission(phone, 'notifications', 'denied')
    await phone.page.getByText('Notifications are blocked.').waitFor()
    expect(await phone.page.getByRole('button', { name: /notification/ }).count()).toBe(0)
    expect(phone.misdeeds).toEqual([])
  })
})
