import { expect, test } from 'vitest'
import { ask } from '../service/approver.ts'
import { dataOf } from '../service/fixtures.ts'
import { pretend } from './page-push.ts'
import { installHooks, stage } from './open-stage.ts'
import { card, createPicker, header, inTwo } from './page-organizations.ts'

// One phone of a person who approves in two organizations.

installHooks({ notifications: true })

test('shows and decides the requests of both organizations', async () => {
  const { ada, phone, other, name } = await inTwo()
  const first = await stage.ask(ada)
  const second = dataOf(await ask(stage.service, other))
  await phone.sees('2 requests are waiting')
  await header(phone, 'Approvals')
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
  await phone.sees('No open requests')
  await header(phone, name)
  expect(phone.misdeeds).toEqual([])
})

test('an organization that is renamed has its new name on each screen', async () => {
  const { phone, other, name, org } = await inTwo()
  const { request_id } = dataOf(await ask(stage.service, other))
  await card(phone, request_id).getByText(name, { exact: true }).waitFor()
  const rename = async (to: string): Promise<void> => {
    dataOf(await stage.service.call('PUT', `/organization/${org}/update`, { body: { name: to } }))
    await phone.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  }
  await rename('Initech')
  await card(phone, request_id).getByText('Initech', { exact: true }).waitFor()
  await phone.page
    .getByLabel('Organization')
    .getByRole('option', { name: 'Initech' })
    .waitFor({ state: 'attached' })
  await card(phone, request_id).click()
  await header(phone, 'Initech')
  await rename('Umbrella')
  await expect(header(phone, 'Umbrella')).resolves.toBeUndefined()
})

test('finds the result of a request of either organization', async () => {
  const { ada, phone, other } = await inTwo()
  for (const id of [(await stage.ask(ada)).request_id, dataOf(await ask(stage.service, other)).request_id]) {
    await stage.service.call('POST', `/svc/v1/approvals/${id}/withdraw`, { body: {} })
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
  await phone.sees('No open requests')
  expect(await header.textContent()).toBe(name)
  await phone.page.getByRole('link', { name: `Your decisions for ${name}` }).click()
  await expect(phone.sees(`Your decisions for ${name}`)).resolves.toBeUndefined()
  await phone.page.getByRole('link', { name: 'All requests' }).click()
  await phone.page.getByLabel('Organization').selectOption({ label: 'acme' })
  await expect(header.getByText('acme').waitFor()).resolves.toBeUndefined()
})

test('what the service learns of notifications leaves the message of a tap on the screen', async () => {
  const { phone } = await inTwo()
  await (
    await createPicker(phone)
  )('acme')
  let release: (() => void) | undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  await phone.page.route('**/svc/v1/approver/push', (route) => released.then(() => route.continue()))
  await pretend(phone, 'granted')
  await phone.sees('No open requests')
  await phone.tap('Sign in to another organization')
  const alert = phone.page.getByRole('alert').getByText('You’re already signed in to acme.')
  await alert.waitFor()
  release?.()
  await phone.page.getByText('Notifications: on').waitFor()
  await phone.page.getByText('You’ll get a notification for each request').waitFor()
  expect(await alert.count()).toBe(1)
  expect(phone.misdeeds).toEqual([])
})

test('notifications are repaired for one organization, although another wants its person to confirm first', async () => {
  const { phone, name, org } = await inTwo()
  const data = { code: 'signature_required' }
  const refusal = { status: 403, json: { status: 'error', message: 'Confirm it is you', data } }
  await phone.page.route('**/svc/v1/approver/push', (route) =>
    route.request().headers()['x-svc-organization'] === String(org)
      ? route.continue()
      : route.fulfill(refusal),
  )
  await pretend(phone, 'granted')
  await phone.page.getByLabel('Organization').selectOption({ label: name })
  await expect.poll(() => phone.page.getByText('Notifications: on').count()).toBe(1)
})
