import { expect, test } from 'vitest'
import { installHooks, open, stage } from './open-stage.ts'

installHooks()

test('an approval includes the location if a rule requires it', async () => {
  const user = await stage.person()
  await stage.setFence(user)
  const phone = await stage.openPhone()
  await stage.locate(phone)
  await phone.page.goto(await stage.linkFor(user.id))
  await phone.tap('Register this device')
  await phone.sees('This device is registered')
  await phone.tap('Continue')
  await phone.sees('No open requests')
  const { request_id } = await stage.ask(user, { factors: ['biometric', 'location'] })
  await phone.page.locator('a.card').click()
  await phone.tap('Approve')
  await phone.sees('Approved')
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
})

test('the owner decides whether to approve without a location when the phone has none', async () => {
  const user = await stage.person()
  await stage.setFence(user)
  const phone = await stage.openPhone()
  await phone.context.grantPermissions([], { origin: stage.origin })
  await phone.page.goto(await stage.linkFor(user.id))
  await phone.tap('Register this device')
  await phone.tap('Continue')
  await phone.tap('Allow location')
  await phone.page.getByText('didn’t share its location').waitFor()
  await phone.tap('Continue')
  const { request_id } = await stage.ask(user)
  await phone.page.locator('a.card').click()
  await phone.tap('Approve')
  await phone.page.getByRole('heading', { name: 'didn’t share its location' }).waitFor()
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'pending' })
  await phone.tap('Approve without location')
  await phone.sees('Not approved')
  await phone.page.getByText('location was missing').waitFor()
})

test('the page says that it looks for the location, until it is found', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await stage.setFence(user)
  await stage.locate(phone)
  await phone.page.evaluate(
    `Geolocation.prototype.getCurrentPosition = (found) => (globalThis.found = found)`,
  )
  const { request_id } = await stage.ask(user)
  await open(phone, request_id)
  await phone.tap('Approve')
  await phone.page.getByRole('status').getByText('Finding your location…').waitFor()
  expect(await phone.page.getByText('Waiting for your device').count()).toBe(0)
  await phone.page.evaluate(`{
    delete Geolocation.prototype.getCurrentPosition
    const coords = { latitude: 48.1, longitude: 11.5, accuracy: 10 }
    Geolocation.prototype.getCurrentPosition = (found) => found({ coords, timestamp: Date.now() })
    found({ coords, timestamp: Date.now() })
  }`)
  await phone.sees('Approved')
})

test('without a location a person can try again, go back and deny, on one screen', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await stage.setFence(user)
  await phone.page.setViewportSize({ width: 390, height: 844 })
  await phone.context.grantPermissions([], { origin: stage.origin })
  const asked = phone.page.getByRole('heading', { name: 'didn’t share its location' })
  const first = await stage.ask(user)
  await open(phone, first.request_id)
  await phone.tap('Approve')
  await asked.waitFor()
  const below = `[...document.querySelectorAll('.step button')]
    .filter((one) => one.getBoundingClientRect().bottom > innerHeight + 1).map((one) => one.textContent)`
  expect(await phone.page.evaluate(below)).toEqual([])
  await phone.tap('Back')
  await phone.tap('Approve')
  await phone.tap('Try again')
  await phone.page.getByRole('alert').getByText('Still no location.').waitFor()
  expect(await phone.page.evaluate(below)).toEqual([])
  await phone.tap('Deny')
  await phone.sees('Denied')
  expect(await stage.statusOf(first.request_id)).toMatchObject({ status: 'denied' })
  await phone.tap('Done')

  const second = await stage.ask(user)
  await open(phone, second.request_id)
  await phone.tap('Approve')
  await asked.waitFor()
  await stage.locate(phone)
  await phone.tap('Try again')
  await phone.sees('Approved')
  expect(await stage.statusOf(second.request_id)).toMatchObject({ status: 'approved' })
})

test('a permission that is taken away while the request is open is known before the device check', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await stage.locate(phone)
  await stage.setFence(user)
  const { request_id } = await stage.ask(user)
  await open(phone, request_id)
  await phone.page.getByText('Where you can approve: Office').waitFor()
  const { targetInfo } = await phone.devtools.send('Target.getTargetInfo')
  const browser = await stage.browser.newBrowserCDPSession()
  await browser.send('Browser.setPermission', {
    permission: { name: 'geolocation' },
    setting: 'denied',
    origin: stage.origin,
    browserContextId: targetInfo.browserContextId!,
  })
  await phone.setOwner(false)
  await phone.tap('Approve')
  await phone.page.getByRole('heading', { name: 'didn’t share its location' }).waitFor()
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'pending' })
})
