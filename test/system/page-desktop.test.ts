import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { encode } from 'uqr'
import { remote } from '../e2e/person.ts'
import { startService, type Service } from '../e2e/processes.ts'
import { createMember, createTenant, dataOf } from '../service/fixtures.ts'
import { ask } from '../service/approver.ts'
import type { TestService } from '../service/harness.ts'
import { patienceMs } from '../patience.mts'
import { temporaryFolder } from '../temporary-folder.ts'
import { flaws } from './page-flaws.ts'
import { launch } from './page-phone.ts'
import { createTunnel } from './https-tunnel.ts'

// A computer at https://svc.test: with an authenticator of its own, with a security key, and without any.

const operator = 'svc_op_approver_0123456789012345678901234567890'
const folder = temporaryFolder()
const tunnel = await createTunnel()
const { origin } = tunnel
let running: Service
let service: TestService
let org: { id: number }
let browser: Browser
let people = 0

beforeAll(async () => {
  running = await startService(folder.path, operator, ['--public-url', origin])
  tunnel.connect(running.baseUrl)
  service = remote(running.baseUrl, operator)
  org = await createTenant(service, 'acme')
  browser = await launch(tunnel.flags, { without: ['--hide-scrollbars'] })
})
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))
afterAll(async () => {
  await browser.close()
  tunnel.close()
  await running.stop()
  folder.remove()
})

type Transport = 'internal' | 'usb'

/** A computer with these authenticators. */
const openComputer = async (...transports: Transport[]): Promise<Page> => {
  // A screen that still appears has too little contrast for axe.
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(patienceMs)
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  for (const transport of transports)
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport,
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
  return page
}

const createPerson = async () => {
  people += 1
  const user = await createMember(service, org.id, people)
  const path = `/svc/v1/organizations/${org.id}/users/${user.id}/enrollments`
  return { user, link: dataOf(await service.call('POST', path, { body: {} })).url as string }
}
const devicesOf = async ({ id }: { id: string }) =>
  dataOf(await service.call('GET', `/svc/v1/organizations/${org.id}/users/${id}/devices`))
const setAuthenticators = async (authenticators: string[]): Promise<void> => {
  const body = { policy: { authenticators } }
  dataOf(await service.call('PUT', `/organization/${org.id}/update`, { body }))
}

const flawsOf = async (page: Page): Promise<string[]> =>
  flaws({ page, devtools: await page.context().newCDPSession(page) })

const tap = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click()
const sees = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name }).waitFor()

/** Whether the code on the page is that of this address, module by module. */
const shownCode = async (page: Page): Promise<string> => {
  const code = page.locator('svg.code')
  await code.waitFor()
  return (await code.locator('path').getAttribute('d'))!
}
const codeOf = (address: string): string =>
  encode(address, { border: 4, ecc: 'L' })
    .data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('')

afterEach(() => setAuthenticators([]))

describe('a computer without an authenticator', () => {
  test('shows the enrollment link as a code, with which a phone goes on', async () => {
    const { user, link } = await createPerson()
    const page = await openComputer()
    await page.goto(link)
    await sees(page, 'This device can’t check that it’s you')
    expect(await shownCode(page)).toBe(codeOf(link))
    expect(await flawsOf(page)).toEqual([])
    const phone = await openComputer('internal')
    await phone.goto(link)
    await tap(phone, 'Register this device')
    await sees(phone, 'This device is registered')
    expect(await devicesOf(user)).toHaveLength(1)
  })

  test('shows a request as a code', async () => {
    const { user } = await createPerson()
    const address = `${origin}/approver#request=req_1`
    const page = await openComputer()
    await page.goto(address)
    await sees(page, 'Sign in')
    expect(await shownCode(page)).toBe(codeOf(address))
    expect(user.id).toBeDefined()
  })
})

test('a computer shows the link for another device of the same person as a code', async () => {
  const { user, link } = await createPerson()
  const page = await openComputer('internal')
  await page.goto(link)
  await tap(page, 'Register this device')
  await sees(page, 'This device is registered')
  await page.goto(`${origin}/approver#add-device`)
  await page.reload()
  await sees(page, 'Add a device')
  await tap(page, 'Create a link')
  const added = (await page.getByText('#enroll=').textContent())!
  expect(await shownCode(page)).toBe(codeOf(added))
  const phone = await openComputer('internal')
  await phone.goto(added)
  await tap(phone, 'Register this device')
  await sees(phone, 'Waiting for your other device')
  expect(await devicesOf(user)).toMatchObject([{ state: 'active' }, { state: 'pending', proof: 'device' }])
})

describe('a security key', () => {
  test('registers, signs in and approves', async () => {
    const { user, link } = await createPerson()
    const page = await openComputer('usb')
    await page.goto(link)
    await tap(page, 'Use a phone or a security key')
    await sees(page, 'This device is registered')
    expect(await devicesOf(user)).toMatchObject([{ name: 'Ada’s security key', state: 'active' }])
    await page.context().clearCookies()
    await page.reload()
    await tap(page, 'Sign in')
    await sees(page, 'No open requests')
    const { request_id } = dataOf(await ask(service, user))
    await page.locator(`a[href="#request=${request_id}"]`).click()
    await tap(page, 'Approve')
    await sees(page, 'Approved')
  })

  test('is used on a computer that has an authenticator of its own, if the organization wants it', async () => {
    await setAuthenticators(['security_key'])
    const { user, link } = await createPerson()
    const page = await openComputer('internal', 'usb')
    await page.goto(link)
    await sees(page, 'Hello Ada')
    await page.getByText('accepts only security keys').waitFor()
    expect(await page.getByRole('button', { name: 'Register this device' }).count()).toBe(0)
    await tap(page, 'Use a security key')
    await sees(page, 'This device is registered')
    expect(await devicesOf(user)).toMatchObject([{ attachment: 'cross-platform' }])
  })

  test('is refused in words if the organization does not accept it', async () => {
    await setAuthenticators(['platform'])
    const { user, link } = await createPerson()
    const page = await openComputer('usb')
    await page.goto(link)
    await tap(page, 'Use a phone')
    await page
      .getByRole('alert')
      .getByText('isn’t accepted. acme accepts only devices that keep the key to themselves.')
      .waitFor()
    expect(await devicesOf(user)).toEqual([])
  })
})

describe('a computer with an authenticator', () => {
  test('registers under the name of its owner, and offers other devices', async () => {
    const { user, link } = await createPerson()
    const page = await openComputer('internal')
    await page.goto(link)
    await page.getByText('Continue on another device').click()
    expect(await shownCode(page)).toBe(codeOf(link))
    expect(await page.locator('main').textContent()).not.toContain('this phone')
    expect(await flawsOf(page)).toEqual([])
    await tap(page, 'Register this device')
    await sees(page, 'This device is registered')
    expect(await flawsOf(page)).toEqual([])
    expect(await devicesOf(user)).toMatchObject([{ name: 'Ada’s computer' }])
  })
})

test.each([500, 1280])('a scrollbar moves nothing on a page of %i pixels', async (width) => {
  const page = await openComputer()
  await page.goto(`${origin}/approver`)
  await sees(page, 'Sign in')
  const scrollbar = (): Promise<boolean> =>
    page.evaluate('document.documentElement.scrollHeight > document.documentElement.clientHeight')
  const place = async () => {
    const { x, width: wide } = (await page.getByRole('button', { name: 'Sign in' }).boundingBox())!
    return { x, wide }
  }
  await page.setViewportSize({ width, height: 1600 })
  expect(await scrollbar()).toBe(false)
  const before = await place()
  await page.setViewportSize({ width, height: 400 })
  expect(await scrollbar()).toBe(true)
  expect(await place()).toEqual(before)
})

test('what is wider than the window is found, beside a scrollbar too', async () => {
  const page = await openComputer()
  await page.setViewportSize({ width: 500, height: 200 })
  await page.goto(`${origin}/approver`)
  await sees(page, 'Sign in')
  expect(await flawsOf(page)).toEqual([])
  await page.evaluate(`document.querySelector('main').style.minWidth = '495px'`)
  expect(await flawsOf(page)).toEqual(['wider than the screen'])
})
