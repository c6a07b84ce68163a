import { existsSync, readFileSync } from 'node:fs'
import type { Locator } from 'playwright-core'
import type { Phone } from '../page-phone.ts'
import type { Stage } from '../page-stage.ts'

// A phone that is led through the screens in any language.

const read = (language: string, screen: string): Record<string, string> => {
  const file = new URL(`../../../src/page/language/messages/${language}/${screen}.json`, import.meta.url)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {}
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** The text of a key, as a pattern that any value fits. */
const words = (language: string, key: string): RegExp => {
  const [screen = '', name = ''] = key.split('.')
  const message = read(language, screen)[name] ?? read('en', screen)[name]
  if (message === undefined) throw new Error(`No such text: ${key}`)
  if (/, (?:plural|select)/.test(message)) return /./
  return new RegExp(
    `^${message
      .split(/\{\w+\}/)
      .map(escaped)
      .join('.*')}$`,
    's',
  )
}

/** Leads to a state from the one before. */
export type Steps = Record<string, () => Promise<unknown>>

export type Person = Awaited<ReturnType<Stage['person']>>

export type Way = ReturnType<typeof createWay>

// By the page itself: a pointer would miss while another size is emulated.
const press = (one: Locator): Promise<void> => one.dispatchEvent('click')

export const createWay = (stage: Stage, phone: Phone, language = 'en') => {
  const { page } = phone
  const said = (key: string): RegExp => words(language, key)
  const tap = (key: string): Promise<void> => press(page.getByRole('button', { name: said(key) }).first())
  const sees = (key: string): Promise<void> =>
    page
      .getByRole('heading', { name: said(key) })
      .first()
      .waitFor()
  const goto = async (rest = ''): Promise<void> => {
    await page.goto('about:blank')
    await page.goto(`${stage.origin}/approver${rest}`)
  }
  const openLink = async (user: { id: number }): Promise<void> => {
    await goto(new URL(await stage.linkFor(user.id)).hash)
    await page.locator('#name').waitFor()
  }
  /** From the screen of the link to the inbox. */
  const register = async (): Promise<void> => {
    await press(page.locator('main .primary').first())
    await page.locator('#name').waitFor({ state: 'detached' })
    await sees('enrollment.registered')
    await tap('common.continue')
    const later = page.getByRole('button', { name: said('common.notNow') })
    const ready = page.getByRole('heading', { name: said('inbox.caughtUp') })
    await later.or(ready).first().waitFor()
    while (await later.isVisible()) {
      const offer = (await page.locator('.screen').elementHandle())!
      await press(later)
      await offer.waitForElementState('hidden')
    }
    await ready.waitFor()
  }
  const approve = page.getByRole('button', { name: said('common.approve') })
  const readToEnd = async (): Promise<void> => {
    while (!(await approve.isVisible())) await press(page.locator('.bar .primary'))
  }
  return {
    stage,
    phone,
    page,
    said,
    press,
    tap,
    sees,
    goto,
    /** A line of an error beside the button. */
    seesProblem: (): Promise<void> => page.locator('[role=alert]:not(:empty)').first().waitFor(),
    openLink,
    register,
    /** A new person whose phone this is from now on, at the inbox. */
    enroll: async (more: object = {}): Promise<Person> => {
      const user = await stage.person(more)
      await openLink(user)
      await register()
      return user
    },
    openCard: async (at = 0): Promise<void> => {
      await press(page.locator('a.card').nth(at))
      await page.locator('.bar .choice').waitFor()
    },
    readToEnd,
    approve: async (): Promise<void> => {
      await readToEnd()
      await press(approve)
    },
    /** From the result of a request back to the inbox. */
    done: async (): Promise<void> => {
      await press(page.locator('main .actions .actions .button').last())
      await page.locator('a[href="#devices"]').waitFor()
    },
  }
}
