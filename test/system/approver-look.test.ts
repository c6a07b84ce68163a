import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { flaws } from './approver-flaws.ts'
import { createStage, type Stage } from './approver-stage.ts'

// What does not depend on a decision: notifications, admins, places, and how each screen stands up to axe.

const page = fileURLToPath(new URL('../../dist/approver', import.meta.url))

let stage: Stage
beforeAll(async () => {
  stage = await createStage()
}, 60_000)
afterEach(async () => {
  await stage.closePhones()
  for (const id of await stage.waiting()) await stage.accept({ id })
})
afterAll(() => stage.close())

describe.each(['light', 'dark'] as const)('each screen, %s', (scheme) => {
  test('has nothing that axe calls serious, fits the phone, and is large enough to tap', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone(scheme)
    const seen: Record<string, string[]> = {}
    const look = async (name: string): Promise<void> => {
      seen[name] = await flaws(phone)
    }
    await phone.page.goto(`${stage.origin}/approver`)
    await phone.sees('Sign in with this phone')
    await look('sign in')
    await phone.page.goto(`${stage.origin}/approver#enroll=nothing`)
    await phone.sees('This link is used up')
    await look('used up')
    const link = new URL(await stage.linkFor(user.id))
    await phone.page.goto(`${stage.origin}/approver${link.hash}`)
    await phone.sees('Hello Ada')
    await look('enrollment')
    await phone.tap('Register this phone')
    await phone.sees(/Ring when/)
    await look('offer')
    await phone.tap('Not now')
    await phone.sees('Nothing waits for you')
    await look('empty inbox')
    const { request_id } = await stage.ask(user, { number: true, reason: 'Fixes the login outage' })
    await phone.sees('One request waits')
    await look('inbox')
    await phone.page.locator(`a[href="#request=${request_id}"]`).click()
    await phone.page.getByRole('button', { name: "This wasn't me" }).waitFor()
    await look('request')
    await phone.tap("This wasn't me")
    await look('not me')
    await phone.tap('Back')
    await phone.tap('Approve')
    await phone.page.getByLabel('number').fill('x')
    await phone.tap('Approve')
    await look('number')
    await phone.tap('Deny')
    await phone.sees('Denied')
    await look('denied')
    await phone.tap('Done')
    await stage.ask(user, { lifetime_s: 2 })
    await phone.page.locator('a.card').click()
    await phone.sees('This request has lapsed')
    await look('lapsed')
    expect(Object.entries(seen).filter(([, found]) => found.length > 0)).toEqual([])
    expect(Object.keys(seen)).toHaveLength(11)
    expect(phone.misdeeds).toEqual([])
  })
})

describe.each(['light', 'dark'] as const)('the screens that another one causes, %s', (scheme) => {
  test('have nothing that axe calls serious: approved, decided elsewhere, no connection', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user, scheme)
    const { page } = phone
    const seen: Record<string, string[]> = {}
    await stage.ask(user)
    await page.locator('a.card').click()
    await phone.tap('Approve')
    await phone.sees('Approved')
    seen.approved = await flaws(phone)
    await phone.tap('Done')
    const { request_id } = await stage.ask(user)
    await page.locator('a.card').click()
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await stage.service.call('POST', `/svc/v1/approvals/${request_id}/cancel`, { body: {} })
    await phone.sees('Decided elsewhere')
    seen.elsewhere = await flaws(phone)
    await phone.tap('Done')
    await phone.sees('Nothing waits for you')
    await phone.context.setOffline(true)
    // What would have come breaks the wait for it.
    await stage.ask(user)
    await page.getByRole('status').getByText('No connection').waitFor()
    seen.offline = await flaws(phone)
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await page.reload()
    await phone.sees('Not connected')
    seen['not connected'] = await flaws(phone)
    await phone.context.setOffline(false)
    await phone.sees('One request waits')
    expect(seen).toEqual({ approved: [], elsewhere: [], offline: [], 'not connected': [] })
  })

  test('have nothing that axe calls serious: the members, for an admin', async () => {
    const admin = await stage.person()
    await stage.makeAdmin(admin)
    await stage.putOnHold(await stage.person())
    await stage.person({ first_name: 'Active' })
    const phone = await stage.enrolled(admin, scheme)
    const { page } = phone
    await page.locator('a[href="#members"]').click()
    await phone.sees('Members')
    const closed = await flaws(phone)
    await page.getByText('Active members').click()
    await page.getByRole('button', { name: 'Hold Active' }).first().click()
    await page.getByRole('status').getByText('is on hold').waitFor()
    const open = await flaws(phone)
    expect([closed, open]).toEqual([[], []])
  })
})

test('the whole page is under 60 KB, and nothing in it comes from elsewhere', () => {
  const files = readdirSync(page).map((name) => ({ name, bytes: readFileSync(join(page, name)) }))
  const size = files.reduce((sum, { bytes }) => sum + gzipSync(bytes, { level: 9 }).length, 0)
  expect(size).toBeLessThan(60 * 1024)
  for (const { name, bytes } of files) {
    if (!/\.(?:html|css|webmanifest)$/.test(name)) continue
    expect(bytes.toString()).not.toMatch(/https?:|style=|<script(?! src="\/approver\/)|onclick/)
  }
})

test('the page can be used by keyboard alone', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await stage.ask(user)
  await phone.sees('One request waits')
  const { keyboard } = phone.page
  await keyboard.press('Tab')
  await keyboard.press('Enter')
  await phone.page.getByRole('button', { name: 'Deny', exact: true }).waitFor()
  await keyboard.press('Tab')
  await keyboard.press('Tab')
  await keyboard.press('Enter')
  await expect(phone.sees('Denied')).resolves.toBeUndefined()
})

describe('a notification', () => {
  test('says that something waits and never what, and opens it', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await phone.context.grantPermissions(['notifications'], { origin: stage.origin })
    const registered = new Promise<string>((resolve) => {
      phone.devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        if (registrations[0]) resolve(registrations[0].registrationId)
      })
    })
    await phone.devtools.send('ServiceWorker.enable')
    const { request_id } = await stage.ask(user)
    await phone.sees('One request waits')
    await phone.devtools.send('ServiceWorker.deliverPushMessage', {
      origin: stage.origin,
      registrationId: await registered,
      data: JSON.stringify({ request_id }),
    })
    const shown = `navigator.serviceWorker.ready.then((worker) => worker.getNotifications())
      .then((all) => all.map(({ title, body, tag }) => ({ title, body, tag })))`
    await expect
      .poll(() => phone.page.evaluate(shown))
      .toEqual([{ title: 'An approval is waiting', body: 'Open it to see what is asked.', tag: request_id }])
    // A tap, in the worker itself: no finger reaches the shade of a headless browser.
    const [worker] = phone.context.serviceWorkers()
    await worker!.evaluate(`registration.getNotifications().then(([notification]) => {
      dispatchEvent(new NotificationEvent('notificationclick', { notification }))
    })`)
    await phone.tap('Deny')
    await phone.sees('Denied')
    await expect.poll(() => phone.page.evaluate(shown)).toEqual([])
  })

  test('for a request that the page has not seen yet finds it', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await phone.page.goto(`${stage.origin}/approver#request=${request_id}`)
    const approve = phone.page.getByRole('button', { name: 'Approve', exact: true })
    await expect(approve.waitFor()).resolves.toBeUndefined()
  })

  test('that is refused leaves a way on', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this phone')
    await phone.sees(/Ring when/)
    await phone.tap('Turn on notifications')
    await phone.page.getByText(/stay off|did not start/).waitFor()
    await phone.tap('Continue')
    await expect(phone.sees('Nothing waits for you')).resolves.toBeUndefined()
  })
})

describe('an admin', () => {
  test('accepts who waits, with a check for each', async () => {
    const admin = await stage.person()
    await stage.makeAdmin(admin)
    const member = await stage.person()
    await stage.putOnHold(member)
    const phone = await stage.enrolled(admin)
    await phone.page.getByRole('link', { name: 'One person waits to join' }).click()
    await phone.sees('Members')
    await phone.setOwner(false)
    await phone.tap('Accept')
    await phone.page.getByRole('alert').getByText('not completed').waitFor()
    await phone.setOwner(true)
    await phone.tap('Accept')
    await phone.page.getByRole('status').getByText('is accepted').waitFor()
    expect(await stage.waiting()).toEqual([])
    await phone.page.getByRole('link', { name: 'All requests' }).click()
    await expect(phone.page.getByRole('link', { name: 'Members' }).waitFor()).resolves.toBeUndefined()
  })

  test('puts an active member on hold, found by name, and takes them back, by keyboard alone', async () => {
    const admin = await stage.person()
    await stage.makeAdmin(admin)
    for (let n = 0; n < 30; n += 1) await stage.person()
    const grace = await stage.person({ first_name: 'Grace', last_name: 'Hopper' })
    const phone = await stage.enrolled(admin)
    const { page } = phone
    await page.getByRole('link', { name: 'Members' }).focus()
    await page.keyboard.press('Enter')
    await phone.sees('Members')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText(/^30 of \d+ are shown\.$/).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.type('hopp')
    await page.getByRole('listitem').filter({ hasText: 'Grace Hopper' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Hold/ }).count()).toBe(1)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Grace Hopper is on hold.').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Grace Hopper is on hold.')
    expect(await stage.waiting()).toEqual([grace.id])
    await phone.tap('Accept')
    await page.getByRole('status').getByText('Grace Hopper is accepted.').waitFor()
    expect(await stage.waiting()).toEqual([])
    expect(phone.misdeeds).toEqual([])
  })
})

test('the place goes along with an approval where there are rules about it', async () => {
  const user = await stage.person()
  await stage.setFence(user, { latitude: 48.1, longitude: 11.5 })
  const phone = await stage.openPhone()
  await phone.context.grantPermissions(['geolocation'], { origin: stage.origin })
  await phone.context.setGeolocation({ latitude: 48.1, longitude: 11.5, accuracy: 10 })
  await phone.page.goto(await stage.linkFor(user.id))
  await phone.tap('Register this phone')
  await phone.page.getByRole('status').getByText('This phone is registered').waitFor()
  await phone.sees('Nothing waits for you')
  const { request_id } = await stage.ask(user, { factors: ['biometric', 'location'] })
  await phone.page.locator('a.card').click()
  await phone.tap('Approve')
  await phone.sees('Approved')
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
})

test('where the phone does not say its place, its owner decides whether to send without', async () => {
  const user = await stage.person()
  await stage.setFence(user, { latitude: 48.1, longitude: 11.5 })
  const phone = await stage.openPhone()
  await phone.context.grantPermissions([], { origin: stage.origin })
  await phone.page.goto(await stage.linkFor(user.id))
  await phone.tap('Register this phone')
  await phone.tap('Allow location')
  await phone.page.getByText('did not say where it is').waitFor()
  await phone.tap('Continue')
  const { request_id } = await stage.ask(user)
  await phone.page.locator('a.card').click()
  await phone.tap('Approve')
  await phone.page.getByRole('heading', { name: 'did not say where it is' }).waitFor()
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'pending' })
  await phone.tap('Send without the place')
  await phone.sees('Denied')
  await phone.page.getByText('Refused by the rules').waitFor()
})
