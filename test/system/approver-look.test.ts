import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { flawsInEachView } from './approver-flaws.ts'
import { journeys } from './approver-states/table.ts'
import { createWay } from './approver-states/way.ts'
import { installHooks, stage } from './open-stage.ts'
import { compressedSize } from './page-size.ts'

installHooks()

const page = fileURLToPath(new URL('../../dist/approver', import.meta.url))
const read = (name: string): Buffer => readFileSync(join(page, name))

test.each(Object.keys(journeys))(
  'each state has no axe violation and fits, in light, in dark and with large text: %s',
  async (title) => {
    const phone = await stage.openPhone()
    const found: Record<string, string[]> = {}
    for (const [state, lead] of Object.entries(journeys[title]!(createWay(stage, phone)))) {
      await lead()
      found[state] = await flawsInEachView(phone)
    }
    expect(Object.entries(found).filter(([, flaws]) => flaws.length > 0)).toEqual([])
    expect(phone.misdeeds).toEqual([])
  },
)

test('the page needs at most 40 KB besides its languages, and loads nothing from elsewhere', () => {
  expect(compressedSize()).toBeLessThanOrEqual(40 * 1024)
  for (const name of readdirSync(page)) {
    if (!/\.(?:html|css|webmanifest)$/.test(name)) continue
    expect(read(name).toString()).not.toMatch(/https?:|style=|<script(?! src="\/approver\/)|onclick/)
  }
})

test('the installed page turns with the phone', () => {
  const manifest = JSON.parse(read('manifest.webmanifest').toString()) as object
  expect(manifest).not.toHaveProperty('orientation')
})

test('the page can be used by keyboard alone', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await stage.ask(user)
  await phone.sees('1 request is waiting')
  const { keyboard } = phone.page
  await keyboard.press('Tab')
  await keyboard.press('Enter')
  await phone.page.getByRole('button', { name: 'Deny', exact: true }).waitFor()
  await keyboard.press('Tab')
  await keyboard.press('Enter')
  await expect(phone.sees('Denied')).resolves.toBeUndefined()
})
