import { expect, test } from 'vitest'
import { subscribeBrowser } from '../service/page/push-service.ts'
import type { Phone } from './page-phone.ts'
import { push } from './page-push.ts'
import { installHooks, stage } from './open-stage.ts'

// Headless Chromium has no push service, so the subscription of the browser is set by the test.

installHooks({ notifications: true })

/** A phone that gets notifications, at its settings for them. */
const atSettings = async (): Promise<Phone> => {
  const phone = await stage.enrolled(await stage.person())
  const { endpoint, keys } = subscribeBrowser('http://127.0.0.1:9/p').subscription
  const subscription = JSON.stringify({ endpoint, keys })
  await phone.context.addInitScript(`
    let present = ${subscription}
    const opened = () => ({ toJSON: () => present, unsubscribe: async () => { present = null } })
    PushManager.prototype.getSubscription = async () => present && opened()
    PushManager.prototype.subscribe = async () => { present = ${subscription}; return opened() }
    Notification.requestPermission = async () => 'granted'
    Object.defineProperty(Notification, 'permission', { get: () => 'granted' })`)
  await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
  await phone.page.reload()
  await phone.page.getByRole('link', { name: 'Notifications: on' }).click()
  await phone.sees('Notifications')
  return phone
}

test('a test notification is sent, and the page says when it arrives', async () => {
  const phone = await atSettings()
  await phone.tap('Send a test notification')
  await phone.page.getByText('Sent. It usually appears').waitFor()
  expect(await push(phone, { test: true, organization: 'acme' })).toMatchObject([
    { title: 'acme: test notification', silent: false },
  ])
  await phone.page.getByText('The test notification arrived.').waitFor()
})

test('a test notification that does not arrive is said not to have arrived, until it does', async () => {
  const phone = await atSettings()
  await phone.page.clock.install()
  await phone.tap('Send a test notification')
  await phone.page.getByText('Sent. It usually appears').waitFor()
  await phone.page.clock.fastForward(20_000)
  await phone.page.getByText('It hasn’t arrived. Check that this device is online').waitFor()
  expect(await phone.page.getByText('Sent. It usually appears').count()).toBe(0)
  await push(phone, { test: true, organization: 'acme' })
  await phone.page.getByText('The test notification arrived.').waitFor()
  await phone.page.clock.fastForward(20_000)
  expect(await phone.page.getByText('It hasn’t arrived.').count()).toBe(0)
})

test('a private window says that it can get no notifications', async () => {
  const phone = await stage.enrolled(await stage.person())
  await phone.context.grantPermissions(['notifications'], { origin: stage.origin })
  await phone.page.reload()
  await phone.tap('Turn on notifications')
  await phone.sees('Turn on notifications?')
  await phone.tap('Turn on notifications')
  const line = phone.page.getByText('This browser window can’t get notifications.')
  await expect(line.waitFor()).resolves.toBeUndefined()
})

test('what the settings say moves nothing that can be tapped', async () => {
  const phone = await atSettings()
  const places = () =>
    phone.page.evaluate(
      `[...document.querySelectorAll('.screen button, .screen input')].map((one) => one.getBoundingClientRect().top + scrollY)`,
    )
  await phone.page.getByLabel('Use quiet hours').check()
  await phone.page.getByText('Saved on this device.').waitFor()
  const before = await places()
  await phone.page.getByLabel('From').fill('21:00')
  await phone.page.getByText('Saved on this device.').waitFor()
  await phone.tap('Send a test notification')
  await phone.page.getByText('Sent. It usually appears').waitFor()
  expect(await places()).toEqual(before)
})

test('notifications can be turned off, stay off, and can be turned on again', async () => {
  const phone = await atSettings()
  await phone.tap('Turn off notifications')
  await phone.page.getByText('This device gets no notifications.').waitFor()
  await phone.page.reload()
  await phone.page.getByText('This device gets no notifications.').waitFor()
  await phone.page.getByRole('link', { name: 'All requests' }).click()
  await phone.page.getByRole('button', { name: 'Turn on notifications' }).waitFor()
  expect(await phone.page.getByText('Notifications: off').count()).toBe(0)
  await phone.page.goBack()
  await phone.tap('Turn on notifications')
  const on = phone.page.getByText('This device gets a notification for each request')
  await expect(on.waitFor()).resolves.toBeUndefined()
})

/** The time of the browser, some hours from now. */
const timeIn = async ({ page }: Phone, hours: number): Promise<string> =>
  page.evaluate(`new Date(Date.now() + ${hours} * 3_600_000).toTimeString().slice(0, 5)`)

test('in quiet hours a notification makes no sound', async () => {
  const phone = await atSettings()
  const [from, until] = [await timeIn(phone, -2), await timeIn(phone, 2)]
  await phone.page.getByLabel('Use quiet hours').waitFor()
  expect(await phone.page.getByLabel('From').isVisible()).toBe(false)
  await phone.page.getByLabel('Use quiet hours').check()
  await phone.page.getByLabel('From').fill(from)
  await phone.page.getByLabel('Until').fill(until)
  await phone.page.getByText('Saved on this device.').waitFor()
  // The line is there since the first of the three changes.
  const kept = `caches.match('/approver/notes/quiet-hours').then((one) => one.text())`
  await expect.poll(() => phone.page.evaluate(kept)).toBe(`${from}-${until}`)
  expect(await push(phone, { request_id: 'apr_1', organization: 'acme' })).toMatchObject([
    { title: 'acme: a request is waiting', silent: true },
  ])
  await phone.page.getByLabel('Until').fill(from)
  await phone.page.getByText('Not saved: both times are the same.').waitFor()
  await phone.page.reload()
  const times = () => Promise.all(['From', 'Until'].map((name) => phone.page.getByLabel(name).inputValue()))
  await expect.poll(times).toEqual([from, until])
})

test('blocked notifications are named where they are set, with what to do', async () => {
  const phone = await stage.enrolled(await stage.person())
  await phone.context.addInitScript(
    `Object.defineProperty(Notification, 'permission', { get: () => 'denied' })`,
  )
  await phone.page.reload()
  await phone.page.getByRole('link', { name: 'Notifications: blocked' }).click()
  await phone.page.getByText('Allow them for this page in your browser’s settings').waitFor()
  expect(await phone.page.getByRole('button', { name: /notification/ }).count()).toBe(0)
})

test('a second device is suggested until the person dismisses it, on this phone for good', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const suggestion = phone.page.getByText('You have only one device for this organization.')
  await suggestion.waitFor()
  await phone.page.getByRole('link', { name: 'Add a device' }).click()
  await phone.sees('Add a device')
  await phone.page.getByRole('link', { name: 'Devices' }).click()
  await phone.page.getByRole('link', { name: 'All requests' }).click()
  await phone.tap('Dismiss')
  expect(await suggestion.count()).toBe(0)
  // What follows the card has the focus.
  expect(await phone.page.evaluate('document.activeElement.textContent')).toBe('Turn on notifications')
  await phone.page.reload()
  await phone.sees('No open requests')
  expect(await suggestion.count()).toBe(0)
})

test('a second device is not suggested to a person who has one', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const suggestion = phone.page.getByText('You have only one device for this organization.')
  await suggestion.waitFor()
  const second = await stage.registered(user)
  await second.sees('Waiting for your other device')
  await phone.page.goto(`${stage.origin}/approver#devices`)
  await phone.tap('Approve')
  await phone.page.getByRole('status').getByText('Approved.').waitFor()
  await phone.page.getByRole('link', { name: 'All requests' }).click()
  await phone.sees('No open requests')
  await suggestion.waitFor({ state: 'detached' })
  await stage.reachesInbox(second)
  expect(await second.page.getByText('You have only one device for this organization.').count()).toBe(0)
})
