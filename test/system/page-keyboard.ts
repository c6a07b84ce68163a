import { readFileSync } from 'node:fs'
import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import type { Phone } from './page-phone.ts'
import { stage } from './open-stage.ts'

// A person who reads Arabic on the narrowest phone, and has only a keyboard.

const folder = new URL('../../src/page/language/messages/ar/', import.meta.url)

/** A text of the page in Arabic. */
export const text = (key: string): string => {
  const [screen, name] = key.split('.') as [string, string]
  const texts = JSON.parse(readFileSync(new URL(`${screen}.json`, folder), 'utf8')) as Record<string, string>
  const found = texts[name]
  if (found === undefined) throw new Error(`${key} is not in Arabic`)
  return found
}

/** The same with any values in it. */
const filled = (key: string): RegExp => {
  const parts = text(key).split(/\{\w+\}/)
  return new RegExp(parts.map((part) => part.replaceAll(/[.?()[\]\\*+^$|]/g, '\\$&')).join('.*'))
}

export const narrowPhone = (): Promise<Phone> =>
  stage.openPhone('light', { viewport: { width: 320, height: 640 }, locale: 'ar' })

/** What is wrong where the focus is: nothing that shows it, or something that covers it. */
const focusFlaw = `(() => {
  const one = document.activeElement
  if (one === null || one === document.body) return ''
  const { outlineStyle, outlineWidth } = getComputedStyle(one)
  const name = one.tagName + ' "' + one.textContent + '"'
  if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) return 'no focus ring: ' + name
  const { left, right, top, bottom } = one.getBoundingClientRect()
  const middle = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2
  const hit = document.elementFromPoint((left + right) / 2, middle)
  return hit !== null && one.contains(hit) ? '' : 'the focus is covered: ' + name
})()`

export const hasFocus = async (target: Locator): Promise<boolean> =>
  (await target.and(target.page().locator(':focus')).count()) === 1

/** Moves the focus there with Tab. */
export const reach = async (target: Locator): Promise<void> => {
  await target.waitFor()
  const page = target.page()
  for (let stops = 0; stops < 60; stops++) {
    if (await hasFocus(target)) return
    await page.keyboard.press('Tab')
    expect(await page.evaluate(focusFlaw)).toBe('')
  }
  throw new Error(`The keyboard does not reach ${target}`)
}

export const press = async (target: Locator, key = 'Enter'): Promise<void> => {
  await reach(target)
  await target.page().keyboard.press(key)
}

export const pressButton = ({ page }: Phone, key: string): Promise<void> =>
  press(page.getByRole('button', { name: text(key), exact: true }))

export const pressLink = ({ page }: Phone, hash: string): Promise<void> =>
  press(page.locator(`a[href="#${hash}"]`))

/** Nothing is wider than the phone, and the next Tab goes on from a place on this screen. */
export const fits = async ({ page }: Phone): Promise<void> => {
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY')
}

/** Waits for a screen with this heading, and looks at it. */
export const sees = async (phone: Phone, key: string): Promise<void> => {
  await phone.sees(text(key))
  await fits(phone)
}

/** Waits for a text on this screen, and looks at it. */
export const reads = async (phone: Phone, key: string): Promise<void> => {
  await phone.page.getByText(filled(key)).first().waitFor()
  await fits(phone)
}

/** Opens the link of a new device, and registers the device. */
export const registers = async (phone: Phone, link: string): Promise<void> => {
  // A link in the same page would change only its address.
  await phone.page.goto('about:blank')
  await phone.page.goto(link)
  await pressButton(phone, 'enrollment.register')
}

/** From the end of a registration to the inbox. */
export const goesToInbox = async (phone: Phone): Promise<void> => {
  await sees(phone, 'enrollment.registered')
  await pressButton(phone, 'common.continue')
  const offer = phone.page.getByRole('button', { name: text('common.notNow') })
  const inbox = phone.page.getByRole('heading', { level: 1, name: text('inbox.caughtUp') })
  await offer.or(inbox).waitFor()
  await fits(phone)
  if (await offer.isVisible()) await press(offer)
  await sees(phone, 'inbox.caughtUp')
}

/** A phone that is registered for this person, at the inbox. */
export const enrolled = async ({ id }: { id: number }): Promise<Phone> => {
  const phone = await narrowPhone()
  await registers(phone, await stage.linkFor(id))
  await goesToInbox(phone)
  return phone
}

/** Adds a second phone of the same person from the first, in the organization that the first one shows. */
export const addsDevice = async (first: Phone, second: Phone): Promise<void> => {
  await pressLink(first, 'devices')
  await sees(first, 'devices.title')
  await pressLink(first, 'add-device')
  await sees(first, 'devices.add')
  await pressButton(first, 'devices.createLink')
  await reads(first, 'devices.openThere')
  const shown = first.page.getByText('#enroll=')
  const link = await shown.textContent()
  await registers(second, link!)
  await sees(second, 'enrollment.waitingForDevice')
  // A link that was used is of no use to anybody.
  await shown.waitFor({ state: 'detached' })
  await fits(first)
  await pressButton(first, 'common.approve')
  await reads(first, 'devices.approvedNow')
  await pressButton(second, 'enrollment.checkAgain')
  await goesToInbox(second)
}

/** Opens a request and reads it to its end. */
export const opens = async (phone: Phone, id: string): Promise<void> => {
  await pressLink(phone, `request=${id}`)
  await phone.page.getByRole('button', { name: text('common.deny'), exact: true }).waitFor()
  await fits(phone)
  const first = phone.page.getByRole('button', { name: text('request.readFirst'), exact: true })
  for (let pages = 0; (await first.count()) > 0 && pages < 20; pages++) await press(first)
}

export const approves = async (phone: Phone, id: string): Promise<void> => {
  await opens(phone, id)
  await pressButton(phone, 'common.approve')
  await sees(phone, 'request.approved')
}

export const deniesWithNote = async (phone: Phone, id: string, note: string): Promise<void> => {
  await opens(phone, id)
  await pressButton(phone, 'request.denyWithNote')
  await reach(phone.page.getByRole('textbox'))
  await fits(phone)
  await phone.page.keyboard.type(note)
  await pressButton(phone, 'common.deny')
  await sees(phone, 'request.denied')
}

export const reports = async (phone: Phone, id: string): Promise<void> => {
  await opens(phone, id)
  await pressButton(phone, 'request.notMe')
  await reads(phone, 'request.notExpected')
  await pressButton(phone, 'request.denyAndReport')
  await sees(phone, 'request.denied')
  await reads(phone, 'request.reported')
}

/** From a screen below the inbox, back to it. */
export const backToInbox = (phone: Phone): Promise<void> => pressLink(phone, '')

/** Chooses the organization whose devices and history are shown; its first letter is enough. */
export const chooses = async ({ page }: Phone, organization: string): Promise<void> => {
  const list = page.getByLabel(text('inbox.organization'))
  await press(list, organization[0]!)
  await page.locator('#organization', { hasText: organization }).waitFor()
  expect(await hasFocus(list)).toBe(true)
  const { y, height } = (await list.boundingBox())!
  expect(y + height).toBeLessThanOrEqual(await page.evaluate<number>('innerHeight'))
}
