import { describe, expect, test } from 'vitest'
import { ask } from '../service/approver.ts'
import { dataOf } from '../service/fixtures.ts'
import type { Phone } from './page-phone.ts'
import { installHooks, open, stage } from './open-stage.ts'

// Who asks and what for, and how a person answers.

installHooks()

const opened = async (more: object = {}) => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const { request_id, number } = await stage.ask(user, more)
  return { user, phone, request_id, number }
}
const show = async (phone: Phone, id: string): Promise<void> =>
  phone.page.locator(`a[href="#request=${id}"]`).click()
const scrollOf = (phone: Phone): Promise<number> => phone.page.evaluate('Math.round(scrollY)')

const createKey = async (name: string): Promise<string> =>
  dataOf(
    await stage.service.call('POST', '/svc/v1/keys', {
      body: { name, org_id: stage.org.id, scopes: ['ask'] },
    }),
  ).key

describe('who asks', () => {
  test('is shown in one line for the key and another for the claimed name', async () => {
    const { phone, user } = await opened()
    const key = await createKey('ci')
    const more = { action: 'Deploy 5', requester: 'GitHub Actions' }
    const { request_id } = dataOf(await ask(stage.service, user, more, key))
    const card = phone.page.locator(`a[href="#request=${request_id}"]`)
    await card.getByText('Verified Requested with key ci', { exact: true }).waitFor()
    await card.getByText('Not verified Calls itself GitHub Actions', { exact: true }).waitFor()
    await card.click()
    const asker = phone.page.locator('.asker .who')
    await asker.first().waitFor()
    expect(await asker.allTextContents()).toEqual([
      'First time this key asks you',
      'Verified Requested with key ci',
      'Not verified Calls itself GitHub Actions',
    ])
    expect(await phone.page.locator('.line').allTextContents()).toEqual([
      expect.stringMatching(/^Requested\d/),
      'From127.0.0.1',
      expect.stringMatching(/^Verification/),
    ])
  })

  test('is not called new at the next request', async () => {
    const { phone, user } = await opened()
    const asked = async () => dataOf(await ask(stage.service, user, { action: 'Deploy 5' })).request_id
    await asked()
    await show(phone, await asked())
    await phone.page.locator('.asker .who').first().waitFor()
    expect(await phone.page.getByText('First time', { exact: false }).count()).toBe(0)
  })

  test('cannot look verified by its claimed name', async () => {
    const { phone, request_id } = await opened({ requester: 'key “root” (verified)' })
    await show(phone, request_id)
    const lines = phone.page.locator('.asker .who')
    expect(await lines.last().textContent()).toBe('Not verified Calls itself key “root” (verified)')
  })
})

test('the hyphens of an option stay beside its name at the end of a line', async () => {
  const options = Array.from({ length: 30 }, (_, at) => `--option-${at}`)
  const { phone, request_id } = await opened({ action: `deploy ${options.join(' ')}` })
  await show(phone, request_id)
  const heading = phone.page.locator('.action')
  expect(await heading.textContent()).toBe(`deploy ${options.join(' ')}`)
  const starts = heading.locator('.option')
  expect(await starts.allTextContents()).toEqual(options.map(() => '--o'))
  const parts = await starts.evaluateAll((all) => all.map((one) => one.getClientRects().length))
  expect(parts).toEqual(options.map(() => 1))
})

describe('a long request', () => {
  const reason = Array.from({ length: 40 }, (_, i) => `Line ${i + 1} of the reason.`).join('\n')

  test('is read to its end before it can be approved, and denied at any time', async () => {
    const { phone, request_id } = await opened({ reason })
    await show(phone, request_id)
    const first = phone.page.getByRole('button', { name: 'Read everything first' })
    await first.waitFor()
    await phone.page.getByRole('button', { name: 'Deny', exact: true }).waitFor()
    expect(await phone.page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0)
    const { y, height } = (await first.boundingBox())!
    expect(y + height).toBeLessThanOrEqual(phone.page.viewportSize()!.height)
    // It is taken away after a while.
    const said = phone.page.locator('#announcement').getByText('You can approve now').waitFor()
    for (let taps = 0; (await first.count()) > 0 && taps < 10; taps++) await first.click()
    await phone.page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await phone.page.getByText('Line 40 of the reason.').waitFor()
    await said
    await phone.tap('Approve')
    await phone.sees('Approved')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
  })

  test('is folded, and opens with every character', async () => {
    const { phone, request_id } = await opened({ reason })
    await show(phone, request_id)
    await phone.tap('Show all')
    const text = await phone.page.locator('dd').filter({ hasText: 'Line 1 of' }).textContent()
    expect(text).toBe(reason)
  })
})

describe('the number', () => {
  test('is pasted into two boxes, and Backspace goes back', async () => {
    const { phone, request_id, number } = await opened({ number: true })
    await open(phone, request_id)
    await phone.tap('Approve')
    const [first, second] = [phone.page.getByLabel('First digit'), phone.page.getByLabel('Second digit')]
    await phone.page.keyboard.type('98')
    expect([await first.inputValue(), await second.inputValue()]).toEqual(['9', '8'])
    for (let presses = 0; presses < 2; presses++) await phone.page.keyboard.press('Backspace')
    expect([await first.inputValue(), await second.inputValue()]).toEqual(['', ''])
    await phone.tap('Approve')
    await phone.page.getByRole('alert').getByText('Enter the two digits').waitFor()
    const { y, height } = (await phone.page.getByRole('button', { name: 'Approve' }).boundingBox())!
    expect(y + height).toBeLessThanOrEqual(phone.page.viewportSize()!.height)
    await phone.page.keyboard.insertText(number!)
    expect(await second.inputValue()).toBe(number![1])
    expect(await first.getAttribute('autocomplete')).toBe('off')
    await phone.page.keyboard.press('Enter')
    await phone.sees('Approved')
  })
})

describe('a decision that the service does not accept', () => {
  test('says which place was expected, in red and without log text', async () => {
    const { user, phone, request_id } = await opened()
    await stage.locate(phone, { latitude: 52, longitude: 13 })
    await stage.setFence(user)
    await phone.page.reload()
    await open(phone, request_id)
    await phone.tap('Approve')
    await phone.sees('Not approved')
    const lines = await phone.page.locator('.notice p').allTextContents()
    expect(lines).toEqual(['Deploy 4.2', 'You were outside Office.', 'The requester can ask again.'])
    expect(await phone.page.locator('.picture.bad').count()).toBe(1)
  })

  test('is explained beside the buttons in the words of the page', async () => {
    const { phone, request_id } = await opened()
    await open(phone, request_id)
    await phone.page.route('**/decide', (route) =>
      route.fulfill({
        status: 403,
        json: { status: 'error', message: 'raw', data: { code: 'device_not_separated' } },
      }),
    )
    await phone.tap('Approve')
    const problem = phone.page.getByRole('alert').getByText('the requester may have registered it')
    await problem.waitFor()
    const [text, button] = [
      await problem.boundingBox(),
      await phone.page.getByRole('button', { name: 'Approve', exact: true }).boundingBox(),
    ]
    expect(button!.y - text!.y - text!.height).toBeLessThan(60)
  })
})

describe('requests that wait', () => {
  test('follow one another, and Back does not lead to one that was decided', async () => {
    const { user, phone, request_id } = await opened()
    const next = await stage.ask(user, { action: 'Deploy 4.3' })
    await open(phone, request_id)
    await phone.tap('Approve')
    await phone.sees('Approved')
    await phone.tap('Next request')
    await phone.sees('Deploy 4.3')
    await phone.tap('Deny')
    await phone.sees('Denied')
    expect(await stage.statusOf(next.request_id)).toMatchObject({ status: 'denied' })
    await phone.tap('Done')
    await phone.sees('No open requests')
    // What was announced belonged to the screen before.
    expect(await phone.page.locator('#announcement').textContent()).toBe('')
    await phone.page.goBack()
    await phone.sees('No open requests')
    expect(new URL(phone.page.url()).hash).toBe('')
  })

  test('are offered when they arrive after a decision', async () => {
    const { user, phone, request_id } = await opened()
    await open(phone, request_id)
    await phone.tap('Approve')
    await phone.sees('Approved')
    await stage.ask(user, { action: 'Deploy 4.3' })
    await phone.tap('Next request')
    await expect(phone.sees('Deploy 4.3')).resolves.toBeUndefined()
  })

  test('are announced on every other screen', async () => {
    const { user, phone, request_id } = await opened()
    await phone.page.locator(`a[href="#request=${request_id}"]`).waitFor()
    await phone.page.goto(`${stage.origin}/approver#agents`)
    await phone.sees('Agents and terminals')
    await stage.ask(user, { action: 'Deploy 4.3' })
    const sign = phone.page.getByRole('status').getByRole('link', { name: 'A new request arrived' })
    await sign.click()
    await phone.sees('Deploy 4.3')
    expect(await sign.count()).toBe(0)
    await stage.ask(user, { action: 'Deploy 4.4' })
    await sign.waitFor()
    await phone.page.getByRole('link', { name: 'All requests' }).click()
    await phone.sees('3 requests are waiting')
    expect(await sign.count()).toBe(0)
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'pending' })
  })

  test('arrive in the list without moving it or taking the focus', async () => {
    const { user, phone, request_id } = await opened()
    await phone.page.setViewportSize({ width: 360, height: 320 })
    await phone.page.locator(`a[href="#request=${request_id}"]`).waitFor()
    const row = phone.page.getByRole('link', { name: 'Agents and terminals' })
    await row.focus()
    const before = await scrollOf(phone)
    expect(before).toBeGreaterThan(100)
    await stage.ask(user, { action: 'Deploy 4.3' })
    await phone.page.getByText('Deploy 4.3').waitFor()
    expect(await phone.page.locator(':focus').textContent()).toBe('Agents and terminals')
    // What is on the screen stays there; the browser anchors it.
    expect(await scrollOf(phone)).toBeGreaterThanOrEqual(before)
    await phone.page.locator(`a[href="#request=${request_id}"]`).focus()
    await stage.service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { body: {} })
    await phone.page.getByRole('heading', { name: '1 request is waiting' }).waitFor()
    expect(await phone.page.locator(':focus').getAttribute('class')).toBe('card')
  })
})
