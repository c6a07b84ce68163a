import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { brokenWords, flaws } from './approver-flaws.ts'
import { installHooks, stage } from './open-stage.ts'
import { sizeWithoutLanguages } from './page-size.ts'

installHooks()

const page = fileURLToPath(new URL('../../dist/approver', import.meta.url))
const read = (name: string): Buffer => readFileSync(join(page, name))

afterEach(async () => {
  for (const id of await stage.waiting()) await stage.accept({ id })
})

describe.each(['light', 'dark'] as const)('each screen, %s', (scheme) => {
  test('has no serious axe violation, fits the phone, and has large enough targets', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone(scheme)
    const seen: Record<string, string[]> = {}
    const look = async (name: string): Promise<void> => {
      seen[name] = await flaws(phone)
    }
    await phone.page.goto(`${stage.origin}/approver`)
    await phone.sees('Sign in')
    await look('sign in')
    await phone.page.goto(`${stage.origin}/approver#enroll=nothing`)
    await phone.sees('This link is incomplete')
    await look('used up')
    const link = new URL(await stage.linkFor(user.id))
    await phone.page.goto(`${stage.origin}/approver${link.hash}`)
    await phone.sees('Hello Ada')
    await look('enrollment')
    await phone.tap('Register this device')
    await phone.sees('This device is registered')
    await look('registered')
    await phone.tap('Continue')
    await phone.sees(/Turn on notifications/)
    await look('offer')
    await phone.tap('Not now')
    await phone.sees('You’re all caught up')
    await look('empty inbox')
    const { request_id } = await stage.ask(user, { number: true, reason: 'Fixes the login outage' })
    await phone.sees('1 request is waiting')
    await look('inbox')
    await phone.page.locator(`a[href="#request=${request_id}"]`).click()
    await phone.page.getByRole('button', { name: 'This wasn’t me' }).waitFor()
    await look('request')
    await phone.tap('This wasn’t me')
    await look('not me')
    await phone.tap('Back')
    await phone.tap('Deny with a note')
    await look('note')
    await phone.tap('Back')
    await phone.tap('Approve')
    await phone.page.getByLabel('First digit').fill('x')
    await phone.tap('Approve')
    await look('number')
    await phone.tap('Deny')
    await phone.sees('Denied')
    await look('denied')
    await phone.tap('Done')
    await stage.ask(user, { lifetime_s: 2 })
    await phone.page.locator('a.card').click()
    await phone.sees('This request has expired')
    await look('lapsed')
    expect(Object.entries(seen).filter(([, found]) => found.length > 0)).toEqual([])
    expect(Object.keys(seen)).toHaveLength(13)
    expect(phone.misdeeds).toEqual([])
  })
})

describe.each(['light', 'dark'] as const)('screens caused by another device or a failure, %s', (scheme) => {
  test('have no serious axe violation: approved, withdrawn, no connection', async () => {
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
    await phone.sees('This request was withdrawn')
    seen.withdrawn = await flaws(phone)
    await phone.tap('Done')
    await phone.sees('You’re all caught up')
    await phone.context.setOffline(true)
    // The response is lost with the connection.
    await stage.ask(user)
    await page.getByRole('status').getByText('No connection').waitFor()
    seen.offline = await flaws(phone)
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await page.reload()
    await phone.sees('No connection')
    seen['not connected'] = await flaws(phone)
    await phone.context.setOffline(false)
    await phone.sees('1 request is waiting')
    expect(seen).toEqual({ approved: [], withdrawn: [], offline: [], 'not connected': [] })
  })

  test('have no serious axe violation: the members, for an admin', async () => {
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

test('the page needs at most 40 KB besides its languages, and loads nothing from elsewhere', async () => {
  expect(await sizeWithoutLanguages()).toBeLessThanOrEqual(40 * 1024)
  for (const name of readdirSync(page)) {
    if (!/\.(?:html|css|webmanifest)$/.test(name)) continue
    expect(read(name).toString()).not.toMatch(/https?:|style=|<script(?! src="\/approver\/)|onclick/)
  }
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
