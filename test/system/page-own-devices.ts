import type { Phone } from './page-phone.ts'
import { stage } from './open-stage.ts'

export const row = ({ page }: Phone, name: string | RegExp) =>
  page.locator('li.member').filter({ has: page.getByRole('heading', { name }) })
export const tells = ({ page }: Phone, text: string | RegExp) =>
  page.getByRole('status').getByText(text).waitFor()
export const goTo = async (phone: Phone, place: string, heading: string): Promise<void> => {
  await phone.page.evaluate(`location.hash = '${place}'`)
  await phone.sees(heading)
}
export const rename = async (phone: Phone, from: string | RegExp, to: string): Promise<void> => {
  await row(phone, from)
    .getByRole('button', { name: /^Rename/ })
    .click()
  await phone.page.getByLabel('Name of the device').fill(to)
  await phone.tap('Save')
  await tells(phone, `The device is now called ${to}.`)
}

/** Adds a second device of the same person with a link that the first one makes. */
export const added = async (first: Phone): Promise<Phone> => {
  await goTo(first, 'add-device', 'Add a device')
  await first.tap('Create a link')
  const link = await first.page.getByText('#enroll=').textContent()
  const second = await stage.openPhone()
  await second.page.goto(link!)
  await second.tap('Register this device')
  await second.sees('Waiting for your other device')
  return second
}

/** As `added`, and approved on the first. */
export const approved = async (first: Phone): Promise<Phone> => {
  const second = await added(first)
  await first.tap('Approve')
  await tells(first, 'Approved.')
  await stage.reachesInbox(second)
  return second
}
