import { expect, test } from 'vitest'
import { ask } from '../service/approver.ts'
import { createMember, createTenant, dataOf } from '../service/fixtures.ts'
import { flaws } from './approver-flaws.ts'
import type { Phone } from './approver-phone.ts'
import { installHooks, stage } from './open-stage.ts'

// One phone of a person who approves in two organizations.

installHooks()

let tenants = 0

/** A phone that is registered in acme and then in another organization, at its inbox. */
const inTwo = async () => {
  const ada = await stage.person()
  const phone = await stage.enrolled(ada)
  tenants += 1
  const globex = await createTenant(stage.service, `globex${tenants}`)
  const other = await createMember(stage.service, globex.id, 90 + tenants)
  const path = `/svc/v1/organizations/${globex.id}/users/${other.id}/enrollments`
  const { url } = dataOf(await stage.service.call('POST', path, { body: {} }))
  await phone.page.goto(url)
  await phone.tap('Register this device')
  await stage.reachesInbox(phone)
  return { ada, phone, other, name: `globex${tenants}`, org: globex.id }
}

const card = (phone: Phone, id: string) => phone.page.locator(`a[href="#request=${id}"]`)

test('shows and decides the requests of both organizations', async () => {
  const { ada, phone, other, name } = await inTwo()
  const first = await stage.ask(ada)
  const second = dataOf(await ask(stage.service, other))
  await phone.sees('2 requests are waiting')
  await card(phone, first.request_id).getByText('acme', { exact: true }).waitFor()
  await card(phone, second.request_id).getByText(name, { exact: true }).waitFor()
  for (const [id, organization] of [
    [first.request_id, 'acme'],
    [second.request_id, name],
  ]) {
    await card(phone, id).click()
    await phone.page.locator('#organization', { hasText: organization }).waitFor()
    await phone.tap('Approve')
    await phone.sees('Approved')
    expect(await stage.statusOf(id)).toMatchObject({ status: 'approved' })
    await phone.tap('Done')
  }
  await phone.sees('You’re all caught up')
  expect(phone.misdeeds).toEqual([])
})

test('finds the result of a request of either organization', async () => {
  const { ada, phone, other } = await inTwo()
  for (const id of [(await stage.ask(ada)).request_id, dataOf(await ask(stage.service, other)).request_id]) {
    await stage.service.call('POST', `/svc/v1/approvals/${id}/cancel`, { body: {} })
    await phone.page.goto(`${stage.origin}/approver#request=${id}`)
    await expect(phone.sees('This request was withdrawn')).resolves.toBeUndefined()
    await phone.tap('Done')
  }
})

test('switches the organization, and keeps the choice', async () => {
  const { phone, name } = await inTwo()
  const header = phone.page.locator('#organization')
  await phone.page.getByLabel('Organization').selectOption({ label: name })
  await header.getByText(name).waitFor()
  await phone.page.reload()
  await phone.sees('You’re all caught up')
  expect(await header.textContent()).toBe(name)
  await phone.page.getByRole('link', { name: `Your decisions for ${name}` }).click()
  await expect(phone.sees(`Your decisions for ${name}`)).resolves.toBeUndefined()
  await phone.page.getByRole('link', { name: 'All requests' }).click()
  await phone.page.getByLabel('Organization').selectOption({ label: 'acme' })
  await expect(header.getByText('acme').waitFor()).resolves.toBeUndefined()
})

test('leads back to an organization whose session has expired, and to its request', async () => {
  const { phone, other, name, org } = await inTwo()
  await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
  await phone.context.clearCookies({ name: `svc-approver-${org}` })
  const { request_id } = dataOf(await ask(stage.service, other))
  // As a notification opens it.
  await phone.page.goto('about:blank')
  await phone.page.goto(`${stage.origin}/approver#request=${request_id}`)
  await phone.sees('No such request here')
  await phone.page.getByText(`You’re signed out of ${name} on this device.`).waitFor()
  expect(await flaws(phone)).toEqual([])
  await phone.tap('Sign in')
  await phone.tap('Approve')
  await phone.sees('Approved')
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
  await phone.tap('Done')
  await phone.context.clearCookies({ name: `svc-approver-${org}` })
  await phone.page.reload()
  const expired = phone.page.getByRole('group', { name })
  await expired.getByText('Sign in to see its requests.').waitFor()
  await expired.getByRole('button', { name: 'Dismiss' }).click()
  // What follows the card has the focus.
  expect(await phone.page.evaluate('document.activeElement.textContent')).toBe('Turn on notifications')
  await phone.page.reload()
  await phone.sees('You’re all caught up')
  expect(await expired.count()).toBe(0)
  expect(phone.misdeeds).toEqual([])
})

test('signs out of one organization and stays signed in to the other', async () => {
  const { ada, phone, other, name } = await inTwo()
  await phone.page.getByLabel('Organization').selectOption({ label: name })
  await phone.tap(`Sign out of ${name}`)
  await phone.page.getByRole('status').getByText(`You’re signed out of ${name}.`).waitFor()
  await ask(stage.service, other)
  const { request_id } = await stage.ask(ada)
  await phone.sees('1 request is waiting')
  // The person wanted it.
  expect(await phone.page.getByText('on this device. Sign in').count()).toBe(0)
  await expect(card(phone, request_id).waitFor()).resolves.toBeUndefined()
})
