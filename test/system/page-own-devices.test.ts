import { afterEach, describe, expect, test } from 'vitest'
import { flaws } from './page-flaws.ts'
import { installHooks, open, stage } from './open-stage.ts'
import { added, approved, goTo, rename, row, tells } from './page-own-devices.ts'

installHooks()

afterEach(() => stage.setPolicy({ recovery_delay_s: 0 }))

test('the focus stays at a device that gets another name', async () => {
  const phone = await stage.enrolled(await stage.person())
  await goTo(phone, 'devices', 'Devices')
  await row(phone, /computer|Android/).waitFor()
  let show: (() => void) | undefined
  const held = new Promise<void>((resolve) => (show = resolve))
  await phone.page.route('**/approver/devices', (route) => held.then(() => route.continue()))
  await rename(phone, /computer|Android/, 'Kitchen')
  await phone.page.keyboard.press('Tab')
  show?.()
  await row(phone, 'Kitchen').waitFor()
  expect(await phone.page.evaluate('document.activeElement.ariaLabel')).toBe('Rename Kitchen')
})

test('a person adds a second device from the first, renames it and removes it', async () => {
  const user = await stage.person()
  const first = await stage.enrolled(user)
  await first.page.getByRole('link', { name: 'Devices' }).click()
  await first.sees('Devices')
  await first.page.getByText('You have only one device for this organization.').waitFor()
  expect(await flaws(first)).toEqual([])
  await rename(first, /computer|Android/, 'Kitchen')
  await row(first, 'Kitchen').getByText('This device', { exact: true }).waitFor()
  const second = await added(first)
  // Nobody has to reload: the new device appears on the page that is open.
  await first.tap('Approve')
  await tells(first, 'Approved.')
  await stage.reachesInbox(second)
  await first.page.getByRole('link', { name: 'Done' }).click()
  await first.sees('Devices')
  await rename(first, /^(?!Kitchen)/, 'Tablet')
  await row(first, 'Tablet').getByRole('button', { name: 'Remove Tablet' }).click()
  await first.page.getByText('It’s signed out immediately').waitFor()
  await first.setOwner(false)
  await first.tap('Remove')
  await first.page.getByRole('alert').getByText('was cancelled or timed out').waitFor()
  await first.setOwner(true)
  await first.tap('Remove')
  await tells(first, 'Tablet is removed.')
  // Its session ends at once, without a tap.
  await second.sees('This device was removed')
  await first.page.getByText('1 removed device').click()
  await first.page.getByText('Removed on').waitFor()
  expect([...first.misdeeds, ...second.misdeeds]).toEqual([])
})

test('a device that has to be decided comes first, and keeps its place', async () => {
  const user = await stage.person()
  const first = await stage.enrolled(user)
  const nudge = first.page.getByText('You have only one device for this organization.')
  await nudge.waitFor()
  const second = await stage.registered(user)
  await second.sees('Waiting for your other device')
  await first.page.getByRole('link', { name: '1 new device needs approval' }).waitFor()
  expect(await nudge.count()).toBe(0)
  await goTo(first, 'devices', 'Devices')
  const content = first.page.locator('.content > *')
  await content.first().getByText('Approve only a device').waitFor()
  const order = () =>
    first.page.evaluate(`[...document.querySelectorAll('li.member')].map((one) => one.dataset.of)`)
  const before = (await order()) as string[]
  await row(first, /./).first().getByRole('button', { name: 'Approve' }).click()
  await tells(first, 'Approved.')
  await row(first, /./).first().getByText('Active', { exact: true }).waitFor()
  expect(await order()).toEqual(before)
})

describe('the last device', () => {
  test('is removed only after the page said what follows, and can be kept', async () => {
    const phone = await stage.enrolled(await stage.person())
    await goTo(phone, 'devices', 'Devices')
    const remove = phone.page.getByRole('button', { name: /^Remove / })
    await remove.click()
    await phone.page.getByText('It’s your last device for this organization.').waitFor()
    expect(await flaws(phone)).toEqual([])
    await phone.tap('Cancel')
    await remove.click()
    await phone.tap('Remove')
    await phone.sees('Sign in')
    expect(phone.misdeeds).toEqual([])
  })
})

test('a device that is removed while it signs says so, and decides nothing', async () => {
  const user = await stage.person()
  const first = await stage.enrolled(user)
  const second = await approved(first)
  const { request_id } = await stage.ask(user)
  await open(second, request_id)
  // The decision is signed and on its way when the other device removes this one.
  let release!: () => void
  const removed = new Promise<void>((resolve) => (release = resolve))
  await second.page.route('**/decide', async (route) => {
    await removed
    await route.continue()
  })
  const sent = second.page.waitForRequest('**/decide')
  await second.tap('Approve')
  await sent
  await goTo(first, 'devices', 'Devices')
  await first.page
    .getByRole('button', { name: /^Remove / })
    .last()
    .click()
  await first.tap('Remove')
  await tells(first, 'Removed.')
  release()
  await second.page.getByRole('heading', { level: 1, name: /This device was removed|Sign in/ }).waitFor()
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'pending' })
})

describe('while the service cannot be reached', () => {
  test('devices are not shown as none', async () => {
    const phone = await stage.enrolled(await stage.person())
    await phone.page.route('**/svc/v1/approver/devices', (route) =>
      route.fulfill({ status: 503, body: '{}' }),
    )
    await goTo(phone, 'devices', 'Devices')
    await phone.page.getByText('This can’t be read now.').waitFor()
    expect(await phone.page.locator('li.member').count()).toBe(0)
    expect(await phone.page.getByRole('link', { name: 'Add a device' }).count()).toBe(0)
    await phone.page.unroute('**/svc/v1/approver/devices')
    await phone.tap('Try again')
    await row(phone, /./).waitFor()
    await phone.page.getByText('This can’t be read now.').waitFor({ state: 'detached' })
    expect(phone.misdeeds).toEqual([])
  })
})
