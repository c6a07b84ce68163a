import { describe, expect, test } from 'vitest'
import { chainOf } from '../service/fixtures.ts'
import type { Phone } from './page-phone.ts'
import { installHooksBehindProxy, network, open, stage } from './open-stage.ts'

// A proxy resets a reused connection after the service has done what was asked. Chromium then sends the call again by itself,
// with the same signature. The key counts its signatures, so the service can tell that this one was used.

installHooksBehindProxy()

const opened = async (more: object = {}) => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const { request_id, number } = await stage.ask(user, more)
  await open(phone, request_id)
  return { user, phone, request_id, number }
}

/** How often the page sends the call: by itself, and again by the browser. */
const reset = (path: RegExp) => {
  let times = 0
  const met = network.fail('POST', path, 'reset', 1)
  void network.fail('POST', path, (body) => {
    times += 1
    return { body }
  })
  return { met, again: () => times }
}
const decidePath = /\/decide$/

/** What the page said while it was open. */
const said = async ({ page }: Phone): Promise<void> =>
  void (await page.evaluate(`{
    globalThis.said = []
    new MutationObserver(() => said.push(document.querySelector('main').innerText)).observe(document.body, { subtree: true, childList: true, characterData: true })
  }`))
const untrue = /wasn’t accepted|hasn’t arrived|Something went wrong|can’t reach|No open requests/i
const neverSaid = async ({ page }: Phone): Promise<void> =>
  expect((await page.evaluate<string[]>('said')).filter((text) => untrue.test(text))).toEqual([])

const audited = async (action: string, change?: string): Promise<number> =>
  (await chainOf(stage.service, stage.org.id)).filter(
    (row) => row.action === action && (change === undefined || row.changes.includes(change)),
  ).length

describe('a decision that the browser sends twice', () => {
  test.each([
    ['Approve', 'Approved', 'approved', async (phone: Phone) => phone.tap('Approve')],
    ['Deny', 'Denied', 'denied', async (phone: Phone) => phone.tap('Deny')],
    [
      'This wasn’t me',
      'Denied',
      'denied',
      async (phone: Phone) => {
        await phone.tap('This wasn’t me')
        await phone.tap('Deny and report')
      },
    ],
  ] as const)('is reported as it was recorded: %s', async (_, heading, status, act) => {
    const { phone, request_id } = await opened()
    await said(phone)
    const before = await audited('decideApproval', 'status')
    const { met, again } = reset(decidePath)
    await act(phone)
    await met
    await phone.sees(heading)
    expect(again()).toBe(1)
    await neverSaid(phone)
    expect(await stage.statusOf(request_id)).toMatchObject({ status })
    expect(await audited('decideApproval', 'status')).toBe(before + 1)
  })

  test('is one wrong number', async () => {
    const { phone, request_id, number } = await opened({ number: true })
    await phone.tap('Approve')
    const { met, again } = reset(decidePath)
    await phone.page.getByLabel('First digit').fill(number![0]!)
    await phone.page.getByLabel('Second digit').fill(number![1] === '1' ? '2' : '1')
    await phone.tap('Approve')
    await met
    await phone.page.getByRole('alert').getByText('You have one more try').waitFor()
    expect(again()).toBe(1)
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'pending' })
  })

  test('is looked up if the second copy is refused for whatever reason', async () => {
    const { phone } = await opened()
    await said(phone)
    void network.fail('POST', decidePath, 'reset', 1)
    const data = { code: 'assertion_refused' }
    void network.fail('POST', decidePath, () => ({
      status: 403,
      body: JSON.stringify({ status: 'error', message: 'The signature was used before', data }),
    }))
    await phone.tap('Approve')
    await expect(phone.sees('Approved')).resolves.toBeUndefined()
    await neverSaid(phone)
  })

  test('leaves a list that says that the result is not known', async () => {
    const { phone } = await opened()
    void network.fail('POST', decidePath, 'stalled')
    await phone.tap('Approve')
    await phone.page.getByText('Sending…').waitFor()
    await phone.page.locator('a.back').click()
    const line = phone.page
      .getByRole('status')
      .getByText('Your decision was sent, but its result isn’t known')
    await expect(line.waitFor()).resolves.toBeUndefined()
  })
})

describe('another signed call that the browser sends twice', () => {
  test('is reported as done: both denied', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const [one] = [await stage.ask(user), await stage.ask(user)]
    await phone.page.locator(`a[href="#request=${one.request_id}"]`).click()
    await phone.tap('Deny both from this requester')
    await said(phone)
    const denials = reset(/\/approver\/denials$/)
    await phone.tap('Deny both requests')
    await denials.met
    await phone.sees('2 requests denied')
    expect(denials.again()).toBe(1)
    await neverSaid(phone)
  })

  test('is reported as done: an administrator removes a device', async () => {
    const [admin, member] = [await stage.person(), await stage.person({ first_name: 'Grace' })]
    await stage.makeAdmin(admin)
    await stage.enrolled(member)
    const phone = await stage.enrolled(admin)
    await phone.page.evaluate(`location.hash = 'member=${member.id}'`)
    await phone.page.getByRole('button', { name: /^Remove / }).click()
    const moves = reset(/\/approver\/devices\/\w+\/move$|\/approver\/device/)
    await phone.page.getByRole('group').getByRole('button', { name: 'Remove' }).click()
    await moves.met
    await phone.page
      .getByRole('status')
      .getByText(/removed/)
      .waitFor()
    expect(await stage.devicesOf(member)).toMatchObject([{ state: 'revoked' }])
  })

  test('opens no session twice, and can be tapped again: signing in', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await phone.context.clearCookies()
    await phone.page.reload()
    await phone.sees('Sign in')
    const { met, again } = reset(/\/approver\/session$/)
    await phone.tap('Sign in')
    await met
    await phone.page.getByRole('alert').getByText('Can’t reach the service').waitFor()
    expect(again()).toBe(1)
    await phone.tap('Sign in')
    await expect(phone.sees('No open requests')).resolves.toBeUndefined()
  })

  test('registers one device, and says that it is registered', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.page.goto(await stage.linkFor(user.id))
    const { met, again } = reset(/\/svc\/v1\/devices$/)
    await phone.tap('Register this device')
    await met
    await phone.page.locator('main').getByText('This device is registered. Sign in to continue.').waitFor()
    expect(again()).toBe(1)
    await phone.tap('Sign in')
    await stage.reachesInbox(phone)
    expect(await stage.devicesOf(user)).toMatchObject([{ state: 'active' }])
  })
})
