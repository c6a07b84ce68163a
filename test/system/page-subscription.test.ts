import { expect, test } from 'vitest'
import { dataOf } from '../service/fixtures.ts'
import type { Phone } from './page-phone.ts'
import { pretend } from './page-push.ts'
import { installHooks, stage } from './open-stage.ts'

// Headless Chromium has no push service, so the subscription of the browser is set by the test.

installHooks()

const hashes = async ({ page }: Phone): Promise<string[]> =>
  dataOf({
    status: 200,
    body: await page.evaluate(`fetch('/svc/v1/approver/session').then((a) => a.json())`),
  } as never).push_hashes

test('a page that starts reports a subscription that the service does not know', async () => {
  const phone = await stage.enrolled(await stage.person())
  await phone.page.getByText('Keep this page open').waitFor()
  await pretend(phone, 'granted')
  await phone.page.getByText('You’ll get a notification for each request').waitFor()
  expect(await hashes(phone)).toHaveLength(1)
})

test('a blocked permission is said, although the service has a subscription', async () => {
  const phone = await stage.enrolled(await stage.person())
  await pretend(phone, 'granted')
  await phone.page.getByText('You’ll get a notification for each request').waitFor()
  await pretend(phone, 'denied')
  await phone.page.getByText('Notifications: blocked').waitFor()
  await phone.page.getByText('Keep this page open').waitFor()
  expect(await phone.page.getByText('You’ll get a notification').count()).toBe(0)
})

test('the settings say that notifications are on, once the page has repaired its subscription', async () => {
  const phone = await stage.enrolled(await stage.person())
  await phone.page.evaluate(`location.hash = 'notifications'`)
  await phone.sees('Notifications')
  let repair!: () => void
  const wanted = new Promise<void>((resolve) => (repair = resolve))
  await phone.page.route('**/approver/push', async (route) => {
    await wanted
    await route.continue()
  })
  await pretend(phone, 'granted')
  await phone.page.getByRole('button', { name: 'Turn on notifications' }).waitFor()
  repair()
  await phone.page.getByRole('button', { name: 'Turn off notifications' }).waitFor()
  expect(await phone.page.getByRole('button', { name: 'Turn on notifications' }).count()).toBe(0)
  expect(await hashes(phone)).toHaveLength(1)
})
