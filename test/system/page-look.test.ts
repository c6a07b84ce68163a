import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { brokenWords, flaws } from './page-flaws.ts'
import { installHooks, stage } from './open-stage.ts'
import { languages } from '../../src/page/language/languages.ts'
import { sizeOfFirstVisit, sizeWithoutLanguages } from './page-size.ts'

installHooks()

const page = fileURLToPath(new URL('../../dist/page', import.meta.url))
const read = (name: string): Buffer => readFileSync(join(page, name))

test('the page needs at most 41 KB besides its languages and its further screens, and loads nothing from elsewhere', () => {
  expect(sizeWithoutLanguages()).toBeLessThanOrEqual(41 * 1024)
  for (const name of readdirSync(page)) {
    if (!/\.(?:html|css|webmanifest)$/.test(name)) continue
    expect(read(name).toString()).not.toMatch(/https?:|style=|<script(?! src="\/approver\/)|onclick/)
  }
})

test.each(Object.keys(languages))('a first visit in %s fetches at most 48 KB', (language) => {
  expect(sizeOfFirstVisit(language)).toBeLessThanOrEqual(48 * 1024)
})

test('the installed page turns with the phone', () => {
  const manifest = JSON.parse(read('manifest.webmanifest').toString()) as object
  expect(manifest).not.toHaveProperty('orientation')
})

test('the installed page is named in each language', () => {
  const english = JSON.parse(read('manifest.webmanifest').toString()) as Record<string, unknown>
  for (const language of ['de', 'es', 'fr', 'pt', 'ja', 'ar']) {
    const { name, short_name, lang, ...same } = JSON.parse(
      read(`${language}.webmanifest`).toString(),
    ) as Record<string, unknown>
    expect([lang, short_name]).toEqual([language, name])
    expect(name).not.toBe(english.name)
    // With the same identity, it is the same app.
    expect(english).toMatchObject(same)
  }
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

describe('text that is longer than its line', () => {
  const command = {
    argv: ['deploy', '--wait=false', 'https://registry.acme.example/billing/production/images/2026-11-22'],
    cwd: '/srv/deployments/billing/production/2026-11-22T14-02-11Z',
    executable: { path: '/usr/local/bin/deploy', sha256: '0f6b5c1d'.repeat(8) },
    files: [],
    environment: { passed: [], set: {} },
  }

  test('breaks between words and after what divides them, and is the same text', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await stage.ask(user, { subject: { type: 'command', data: command }, action: 'Deploy' })
    await phone.page.locator('a.card').click()
    const path = phone.page.locator('dd').filter({ hasText: command.cwd })
    await path.waitFor()
    expect(await path.textContent()).toBe(command.cwd)
    expect(await brokenWords(phone)).toEqual([])
    await phone.page.evaluate(`document.body.style.wordBreak = 'break-all'`)
    expect(await brokenWords(phone)).not.toEqual([])
  })
})

test('what is wider than a phone is found', async () => {
  const phone = await stage.openPhone()
  await phone.page.goto(`${stage.origin}/approver`)
  await phone.sees('Sign in')
  expect(await flaws(phone)).toEqual([])
  await phone.page.evaluate(`document.querySelector('main').style.minWidth = '500px'`)
  expect(await flaws(phone)).toEqual(['wider than the screen'])
})
