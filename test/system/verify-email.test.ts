import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startService, type Service } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { request } from '../torture/enrolled-approver.ts'
import { confirmPhone, emailLinkFor } from '../torture/mobile-account.ts'
import { flaws } from './page-flaws.ts'
import { createPhone, launch } from './page-phone.ts'

const operator = 'svc_op_verifyemail_0123456789012345678901234567'

const folder = temporaryFolder()
let service: Service
let browser: Browser
beforeAll(async () => {
  service = await startService(folder.path, operator, ['--dev'])
  browser = await launch()
})
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))
afterAll(async () => {
  await browser.close()
  await service.stop()
  folder.remove()
})

let people = 0

/** A person who has just confirmed a phone, and the link from their e-mail. */
const newAccount = async () => {
  const email = `ada${++people}@acme.example`
  const { mobile } = await confirmPhone(service, operator, { email })
  const verifiedAt = async () =>
    (await request(service.baseUrl, 'getMobileUser', operator, { mobile })).account!.email_verified_at
  return { email, url: await emailLinkFor(service, email), verifiedAt }
}

const openPhone = (scheme?: 'light' | 'dark') =>
  createPhone(browser, `http://localhost:${new URL(service.baseUrl).port}`, scheme)

test.each(['light', 'dark'] as const)(
  'the link of an e-mail asks first, and the tap confirms the address (%s)',
  async (scheme) => {
    const { email, url, verifiedAt } = await newAccount()
    const phone = await openPhone(scheme)
    await phone.page.goto(url)
    await phone.sees('Is this your e-mail address?')
    await phone.page.getByText(email).waitFor()
    expect(await flaws(phone)).toEqual([])
    expect(await verifiedAt()).toBeNull()

    await phone.tap('Yes, confirm')
    await phone.sees('E-mail address confirmed')
    expect(phone.page.url()).not.toContain('verify-email')
    expect(await flaws(phone)).toEqual([])
    expect(await verifiedAt()).toEqual(expect.any(String))
    expect(phone.misdeeds).toEqual([])
  },
)

test('a used link says so', async () => {
  const { url, verifiedAt } = await newAccount()
  const phone = await openPhone()
  await phone.page.goto(url)
  await phone.tap('Yes, confirm')
  await phone.sees('E-mail address confirmed')
  await phone.page.goto('about:blank')
  await phone.page.goto(url)
  await phone.sees('This link has expired or was already used')
  expect(await verifiedAt()).not.toBeNull()
})
