import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Phone } from './approver-phone.ts'
import { createStage, type Stage } from './approver-stage.ts'

// The page as a person has it: real Chromium, the built page, the real service.

let stage: Stage
beforeAll(async () => {
  stage = await createStage()
}, 60_000)
afterEach(() => stage.closePhones())
afterAll(() => stage.close())

const open = async (phone: Phone, id: string): Promise<void> => {
  await phone.page.locator(`a[href="#request=${id}"]`).click()
  await phone.page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
}

describe('enrollment', () => {
  test('registers a phone and takes the token out of the address at once', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.sees('Hello Ada')
    expect(phone.page.url()).toBe(`${stage.origin}/approver`)
    await phone.page.getByLabel('Name of this phone').fill('Pixel of Ada')
    await phone.tap('Register this phone')
    await phone.sees(/Ring when|Nothing waits/)
    const path = `/svc/v1/organizations/${stage.org.id}/users/${user.id}/devices`
    const { body } = await stage.service.call('GET', path)
    expect(body.data).toMatchObject([{ name: 'Pixel of Ada', kind: 'phone', revoked_at: null }])
    expect(phone.misdeeds).toEqual([])
  })

  test('says that a link is used up, and what to ask for', async () => {
    const user = await stage.person()
    const link = await stage.linkFor(user.id)
    const first = await stage.openPhone()
    await first.page.goto(link)
    await first.tap('Register this phone')
    await first.sees(/Ring when|Nothing waits/)
    const second = await stage.openPhone()
    await second.page.goto(link)
    await expect(second.sees('This link is used up')).resolves.toBeUndefined()
    await second.page.getByText('Ask your admin for a new link').waitFor()
  })

  test('leaves the link unspent when the owner does not pass the check', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.setOwner(false)
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this phone')
    await phone.page.getByRole('alert').getByText('not completed').waitFor()
    await phone.setOwner(true)
    await phone.tap('Register this phone')
    await expect(phone.sees(/Ring when|Nothing waits/)).resolves.toBeUndefined()
  })

  test('tells a phone that is registered that it needs no link', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this phone')
    await phone.sees('Registered already')
    await phone.tap('Open your requests')
    await expect(phone.sees('Nothing waits for you')).resolves.toBeUndefined()
  })
})

describe('a decision', () => {
  test('approves what was shown, after the check of the device', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user, { reason: 'Fixes the login outage', requester: 'CI' })
    await open(phone, request_id)
    expect(await phone.page.locator('h1').textContent()).toBe('Deploy 4.2')
    await phone.page.getByText('says it is CI').waitFor()
    await phone.tap('Approve')
    await phone.sees('Approved')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
    await phone.tap('Done')
    await phone.sees('Nothing waits for you')
    expect(phone.misdeeds).toEqual([])
  })

  test('denies', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await phone.tap('Deny')
    await phone.sees('Denied')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'denied', detail: null })
  })

  test('denies and mutes what was not expected', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await phone.tap("This wasn't me")
    await phone.tap('Deny and mute')
    await phone.sees('Denied')
    expect((await stage.statusOf(request_id)).detail).toMatch(/did not expect/)
  })

  test('does not count without the check of the owner, and can be tried again', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await phone.setOwner(false)
    await phone.tap('Approve')
    await phone.page.getByRole('alert').getByText('not completed').waitFor()
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'pending' })
    await phone.setOwner(true)
    await phone.tap('Approve')
    await phone.sees('Approved')
  })

  test('takes the number that the asker sees', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id, number } = await stage.ask(user, { number: true })
    await open(phone, request_id)
    await phone.tap('Approve')
    await phone.page.getByLabel('number').fill(number!)
    await phone.tap('Approve')
    await phone.sees('Approved')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
  })

  test('gives one more try after a wrong number, and then denies', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id, number } = await stage.ask(user, { number: true })
    const wrong = number === '11' ? '22' : '11'
    await open(phone, request_id)
    await phone.tap('Approve')
    await phone.page.getByLabel('number').fill(wrong)
    await phone.page.keyboard.press('Enter')
    await phone.page.getByRole('alert').getByText('One more try').waitFor()
    await phone.page.getByLabel('number').fill(wrong)
    await phone.tap('Approve')
    await phone.sees('Denied')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'denied' })
  })

  test('marks what is invisible, and leaves the text that can be seen as it is', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    // The service takes no such text; another one might.
    await phone.page.route('**/svc/v1/approver/requests*', async (route) => {
      const response = await route.fetch()
      const text = (await response.text()).replace(
        'Deploy 4.2',
        String.raw`Pay\u202e 12\u200b0 \ud83d\ude00x`,
      )
      await route.fulfill({ response, body: text })
    })
    await phone.page.reload()
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    expect(await phone.page.locator('h1').textContent()).toBe('Pay[U+202E] 12[U+200B]0 😀x')
    expect(await phone.page.locator('h1 .mark').allTextContents()).toEqual(['[U+202E]', '[U+200B]'])
    await phone.page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('shows the exact text, and no markup', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const action = '<b>Pay</b>  12\n10'
    const { request_id } = await stage.ask(user, { action, reason: 'é <img src=x>' })
    await open(phone, request_id)
    expect(await phone.page.locator('h1').textContent()).toBe(action)
    expect(await phone.page.locator('main img, main b').count()).toBe(0)
    expect(phone.misdeeds).toEqual([])
  })
})

describe('while a request is open', () => {
  test('says that it has lapsed', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user, { lifetime_s: 3 })
    await open(phone, request_id)
    await phone.sees('This request has lapsed')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'expired' })
  })

  test('says that whoever asked took it back', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await stage.service.call('POST', `/svc/v1/approvals/${request_id}/cancel`, { body: {} })
    await expect(phone.sees('Decided elsewhere')).resolves.toBeUndefined()
  })

  test('lets one of two phones decide, and tells the other', async () => {
    const user = await stage.person()
    const phones = [await stage.enrolled(user), await stage.enrolled(user)]
    const { request_id } = await stage.ask(user)
    for (const phone of phones) await open(phone, request_id)
    await Promise.all(
      phones.map(({ page }) => page.getByRole('button', { name: 'Approve' }).dispatchEvent('click')),
    )
    await Promise.all(phones.map((phone) => phone.sees(/Approved|Decided elsewhere/)))
    const seen = await Promise.all(phones.map((phone) => phone.page.locator('h1').textContent()))
    expect(seen.toSorted()).toEqual(['Approved', 'Decided elsewhere'])
  })
})

describe('a page left open', () => {
  test('shows a request and its end by itself', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await phone.sees('One request waits')
    await stage.service.call('POST', `/svc/v1/approvals/${request_id}/cancel`, { body: {} })
    await expect(phone.sees('Nothing waits for you')).resolves.toBeUndefined()
  })

  test('says that there is no connection, and goes on when it is back', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await phone.context.setOffline(true)
    await stage.ask(user)
    await phone.page.getByRole('status').getByText('No connection').waitFor()
    await phone.context.setOffline(false)
    await expect(phone.sees('One request waits')).resolves.toBeUndefined()
    await phone.page.getByText('No connection').waitFor({ state: 'detached' })
  })

  test('opens without a network from what it has kept', async () => {
    const phone = await stage.enrolled(await stage.person())
    await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await phone.context.setOffline(true)
    await phone.page.reload()
    await phone.sees('Not connected')
    await phone.context.setOffline(false)
    await expect(phone.sees('Nothing waits for you')).resolves.toBeUndefined()
  })

  test('asks to sign in when its session has ended', async () => {
    const phone = await stage.enrolled(await stage.person())
    await phone.context.clearCookies()
    await phone.page.reload()
    await phone.tap('Sign in with this phone')
    await expect(phone.sees('Nothing waits for you')).resolves.toBeUndefined()
  })

  test('tells a phone at once that it was removed, whatever it shows', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    const devices = `/svc/v1/organizations/${stage.org.id}/users/${user.id}/devices`
    const [{ id }] = (await stage.service.call('GET', devices)).body.data
    const started = performance.now()
    await stage.service.call('DELETE', `/svc/v1/organizations/${stage.org.id}/devices/${id}`)
    await phone.sees('Sign in with this phone')
    expect(performance.now() - started).toBeLessThan(5000)
    await phone.tap('Sign in with this phone')
    await expect(phone.sees('This phone was removed')).resolves.toBeUndefined()
    await phone.page.getByText('ask your admin for a new link').waitFor()
  })
})
