import { describe, expect, test } from 'vitest'
import { endSession } from './page-faults.ts'
import { flaws } from './page-flaws.ts'
import { installHooks, stage } from './open-stage.ts'
import { withoutCookies } from './without-cookies.ts'

installHooks()

describe('a browser', () => {
  const inApp =
    'Mozilla/5.0 (Linux; Android 15; Pixel 9 Build/AP3A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/131.0 Mobile Safari/537.36 Instagram 360.0'

  test('inside another app offers a way out with the link intact', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.devtools.send('Emulation.setUserAgentOverride', { userAgent: inApp })
    await phone.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stage.origin })
    const { hash } = new URL(await stage.linkFor(user.id))
    const link = `${stage.origin}/approver${hash}`
    await phone.page.goto(link)
    await phone.sees('Open this in your browser')
    expect(await flaws(phone)).toEqual([])
    expect(phone.page.url()).toBe(link)
    await phone.tap('Copy link')
    await phone.page.getByRole('status').getByText('Link copied').waitFor()
    expect(await phone.page.evaluate('navigator.clipboard.readText()')).toBe(link)
    await phone.tap('Continue here anyway')
    await phone.tap('Register this device')
    await expect(stage.reachesInbox(phone)).resolves.toBeUndefined()
  })

  test('without WebAuthn offers the link for another one', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.context.addInitScript('delete window.PublicKeyCredential')
    const { hash } = new URL(await stage.linkFor(user.id))
    await phone.page.goto(`${stage.origin}/approver${hash}`)
    await phone.sees('This browser can’t check that it’s you')
    expect(await phone.page.getByText(hash).textContent()).toBe(`${stage.origin}/approver${hash}`)
  })

  test('that keeps no cookie says so, after a registration and after signing in', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.page.route('**/svc/v1/**', async (route) => {
      const response = await withoutCookies(route, () => route.fetch())
      const { 'set-cookie': _, ...headers } = response.headers()
      await route.fulfill({ response, headers })
    })
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this device')
    await phone.sees('This browser blocks cookies')
    expect(await flaws(phone)).toEqual([])
    await phone.tap('Try again')
    await phone.tap('Sign in')
    await phone.sees('This browser blocks cookies')
    await phone.page.unroute('**/svc/v1/**')
    await phone.tap('Try again')
    await phone.tap('Sign in')
    await expect(stage.reachesInbox(phone)).resolves.toBeUndefined()
  })

  test('that blocks all storage and refuses the worker still works', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.context.addInitScript(`
      const refuse = () => { throw new DOMException('blocked', 'SecurityError') }
      for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches'])
        Object.defineProperty(window, name, { get: refuse })
      window.BroadcastChannel = class { constructor() { refuse() } }
      LockManager.prototype.request = async () => refuse()
      Object.defineProperty(Navigator.prototype, 'serviceWorker', {
        get: () => ({ addEventListener() {}, register: () => Promise.reject(new DOMException('blocked')), ready: new Promise(() => {}), getRegistration: () => Promise.reject(new DOMException('blocked')), controller: null }),
      })`)
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this device')
    await stage.reachesInbox(phone)
    const { request_id } = await stage.ask(user)
    await phone.page.locator(`a[href="#request=${request_id}"]`).click()
    await phone.tap('Approve')
    await phone.sees('Approved')
    expect(phone.misdeeds).toEqual([])
  })

  test.each([-2, 2])('whose clock is %d hours off registers and signs in', async (hours) => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.page.clock.setSystemTime(Date.now() + hours * 3_600_000)
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this device')
    await stage.reachesInbox(phone)
    await endSession(phone)
    await phone.page.reload()
    await phone.tap('Sign in')
    await expect(stage.reachesInbox(phone)).resolves.toBeUndefined()
  })
})
