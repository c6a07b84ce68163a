import { describe, expect, test } from 'vitest'
import type { Phone } from './page-phone.ts'
import { installHooks, open, stage } from './open-stage.ts'

installHooks()

describe('an open request', () => {
  test('shows that it has expired', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    // Long enough to open it on a slow machine.
    const { request_id } = await stage.ask(user, { lifetime_s: 8 })
    await open(phone, request_id)
    await phone.sees('This request has expired')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'expired' })
  })

  test('shows that the requester withdrew it', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await stage.service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { body: {} })
    await expect(phone.sees('This request was withdrawn')).resolves.toBeUndefined()
  })

  test('is decided by one of two phones, and the other shows that', async () => {
    const user = await stage.person()
    const phones = [await stage.enrolled(user), await stage.registered(user)]
    const [first, second] = phones as [Phone, Phone]
    await first.page.goto(`${stage.origin}/approver#devices`)
    await first.page.reload()
    await first.tap('Approve')
    await first.page.getByRole('status').getByText('Approved.').waitFor()
    await first.page.getByRole('link', { name: 'All requests' }).click()
    await stage.reachesInbox(second)
    const { request_id } = await stage.ask(user)
    for (const phone of phones) await open(phone, request_id)
    await Promise.all(
      phones.map(({ page }) => page.getByRole('button', { name: 'Approve' }).dispatchEvent('click')),
    )
    await Promise.all(phones.map((phone) => phone.sees(/^Approved/)))
    const seen = await Promise.all(phones.map((phone) => phone.page.locator('h1').textContent()))
    expect(seen.toSorted()).toEqual(['Approved', 'Approved on another device'])
  })
})

describe('a page left open', () => {
  test('shows new requests and their end without a reload', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await phone.sees('1 request is waiting')
    await stage.service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { body: {} })
    await expect(phone.sees('No open requests')).resolves.toBeUndefined()
  })

  test('shows that there is no connection, and continues when it is back', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await phone.context.setOffline(true)
    await stage.ask(user)
    await phone.page.getByRole('status').getByText('No connection').waitFor()
    await phone.context.setOffline(false)
    await expect(phone.sees('1 request is waiting')).resolves.toBeUndefined()
    await phone.page.getByText('No connection').waitFor({ state: 'detached' })
  })

  test('opens offline from its cache', async () => {
    const phone = await stage.enrolled(await stage.person())
    await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await phone.context.setOffline(true)
    await phone.page.reload()
    await phone.sees('No connection')
    await phone.context.setOffline(false)
    await expect(phone.sees('No open requests')).resolves.toBeUndefined()
  })

  test('asks to sign in when its session has ended', async () => {
    const phone = await stage.enrolled(await stage.person())
    await phone.context.clearCookies()
    await phone.page.reload()
    await phone.tap('Sign in')
    await expect(phone.sees('No open requests')).resolves.toBeUndefined()
  })

  test('shows at once that the phone was removed, on any screen', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    const devices = `/svc/v1/organizations/${stage.org.id}/users/${user.id}/devices`
    const [{ id }] = (await stage.service.call('GET', devices)).body.data
    await stage.service.call('DELETE', `/svc/v1/organizations/${stage.org.id}/devices/${id}`)
    // `sees` waits for 20 seconds, and the feed would ask again after 25.
    await expect(phone.sees('This device was removed')).resolves.toBeUndefined()
    await phone.page.getByText('ask your administrator for a new link').waitFor()
  })
})
