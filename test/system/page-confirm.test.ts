import { expect, test } from 'vitest'
import { installHooks, stage } from './open-stage.ts'
import { lapse, type Phone } from './page-phone.ts'

installHooks()

/** At the devices of a person whose device signed too long ago. */
const atDevices = async (): Promise<Phone> => {
  const phone = await stage.enrolled(await stage.person())
  await lapse(phone)
  await phone.page.getByRole('link', { name: 'Devices' }).click()
  await asks(phone)
  return phone
}

const asks = ({ page }: Phone): Promise<void> =>
  page.getByRole('dialog', { name: 'Confirm it’s you' }).waitFor()
const isClosed = ({ page }: Phone): Promise<void> => page.getByRole('dialog').waitFor({ state: 'detached' })
const readsDevices = ({ page }: Phone): Promise<void> =>
  page.getByRole('button', { name: /^Rename/ }).waitFor()

test('a screen that needs the device asks once, and then shows what it reads', async () => {
  const phone = await atDevices()
  await phone.tap('Confirm')
  await isClosed(phone)
  await readsDevices(phone)
  await phone.page.goBack()
  await phone.sees('No open requests')
  await phone.page.getByRole('link', { name: 'Agents and terminals' }).click()
  await phone.page.getByText('No agent or terminal is signed in').waitFor()
  expect(await phone.page.getByRole('dialog').count()).toBe(0)
  expect(phone.misdeeds).toEqual([])
})

test('whoever does not confirm reads nothing, and can confirm later', async () => {
  const phone = await atDevices()
  await phone.tap('Not now')
  await isClosed(phone)
  await phone.page.getByText('Confirm it’s you first.').waitFor()
  expect(await phone.page.getByRole('button', { name: /^Rename/ }).count()).toBe(0)
  await phone.tap('Confirm it’s you')
  await asks(phone)
  await phone.tap('Confirm')
  await readsDevices(phone)
})

test('nothing is said behind the open question', async () => {
  const person = await stage.person()
  const phone = await stage.enrolled(person)
  await lapse(phone)
  await phone.page.getByRole('link', { name: 'Devices' }).click()
  await asks(phone)
  const refused = phone.page.waitForResponse((one) => !one.ok())
  await stage.ask(person)
  await (await refused).finished()
  await phone.page.evaluate('new Promise(requestAnimationFrame)')
  expect(await phone.page.getByText('Confirm it’s you first.').count()).toBe(0)
})

test('a check that fails says so, and can be repeated', async () => {
  const phone = await atDevices()
  await phone.setOwner(false)
  await phone.tap('Confirm')
  await phone.page.getByRole('alert').getByText('was cancelled or timed out').waitFor()
  await phone.setOwner(true)
  await phone.tap('Confirm')
  await readsDevices(phone)
  expect(phone.misdeeds).toEqual([])
})

test('leaving the screen closes the question, and the inbox and decisions need none', async () => {
  const person = await stage.person()
  const phone = await stage.enrolled(person)
  await lapse(phone)
  await phone.page.getByRole('link', { name: 'Devices' }).click()
  await asks(phone)
  await phone.page.goBack()
  await isClosed(phone)
  await phone.sees('No open requests')
  await stage.ask(person)
  await phone.page.locator('.card').click()
  await phone.tap('Approve')
  await phone.sees('Approved')
  expect(phone.misdeeds).toEqual([])
})

test('what changes elsewhere does not open the question by itself', async () => {
  const person = await stage.person()
  const phone = await stage.enrolled(person)
  await phone.page.getByRole('link', { name: 'Devices' }).click()
  await readsDevices(phone)
  await lapse(phone)
  await stage.ask(person)
  await phone.page.getByText('Confirm it’s you first.').waitFor()
  await phone.page.getByText('What you see below was read').waitFor()
  expect(await phone.page.getByRole('dialog').count()).toBe(0)
})
