import { describe, expect, test } from 'vitest'
import { ask } from '../service/approver.ts'
import { dataOf } from '../service/fixtures.ts'
import { flaws } from './page-flaws.ts'
import { pretend } from './page-push.ts'
import { installHooks, stage } from './open-stage.ts'
import { card, createPicker, header, inTwo, keptBy } from './page-organizations.ts'

// A person who approves in two organizations signs out of one, or is signed out.

installHooks({ notifications: true })

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
  await phone.sees('No open requests')
  expect(await expired.count()).toBe(0)
  expect(phone.misdeeds).toEqual([])
})

test('signs out of one organization, and the link of its request leads back to it', async () => {
  const { ada, phone, other, name } = await inTwo()
  await (
    await createPicker(phone)
  )(name)
  await phone.page.getByLabel('Organization').selectOption({ label: name })
  await phone.tap(`Sign out of ${name}`)
  await phone.page.getByRole('status').getByText(`You’re signed out of ${name}.`).waitFor()
  const hidden = dataOf(await ask(stage.service, other))
  const { request_id } = await stage.ask(ada)
  await phone.sees('1 request is waiting')
  // The person wanted it.
  expect(await phone.page.getByText('on this device. Sign in').count()).toBe(0)
  await card(phone, request_id).waitFor()
  await phone.page.evaluate(`location.hash = 'request=${hidden.request_id}'`)
  await phone.sees('No such request here')
  expect(await flaws(phone)).toEqual([])
  await phone.tap('Sign in to another organization')
  await phone.tap('Approve')
  await phone.sees('Approved')
  expect(await stage.statusOf(hidden.request_id)).toMatchObject({ status: 'approved' })
  expect(phone.misdeeds).toEqual([])
})

describe('the card of an organization that this phone is signed out of', () => {
  test('comes when a device is removed, and a recovery can be refused there', async () => {
    const { ada, phone, name } = await inTwo()
    await phone.page.getByLabel('Organization').selectOption({ label: 'acme' })
    await phone.page.evaluate(`location.hash = 'add-device'`)
    await phone.sees('Add a device')
    await stage.revokeDevices(ada)
    // Not to the same screen of the other organization.
    await phone.sees('No open requests')
    await header(phone, name)
    await phone.page.getByRole('status').getByText('You’re signed out of acme.').waitFor()
    expect(new URL(phone.page.url()).hash).toBe('')
    const replacement = await stage.registered(ada)
    await replacement.sees('Waiting for an administrator')
    await phone.page.getByRole('group', { name: 'acme' }).getByRole('button', { name: 'Sign in' }).click()
    await phone.sees('This device was removed')
    await header(phone, 'acme')
    expect(await flaws(phone)).toEqual([])
    await phone.tap('Refuse')
    await phone.page.getByRole('status').getByText('Refused.').waitFor()
    await replacement.sees('This device was refused')
    await phone.tap('All requests')
    await phone.sees('No open requests')
    await header(phone, name)
    // Nothing is left to refuse there.
    await phone.tap('Sign in')
    await phone.sees('This device was removed')
    await phone.tap('All requests')
    await phone.sees('No open requests')
    expect(await phone.page.getByRole('group', { name: 'acme' }).count()).toBe(0)
    expect(await keptBy(phone)).not.toContain('acme')
    expect([...phone.misdeeds, ...replacement.misdeeds]).toEqual([])
  })

  test('says that the membership is on hold, and then that it has ended', async () => {
    const { ada, phone } = await inTwo()
    await stage.putOnHold(ada)
    await phone.tap('Sign in')
    await phone.sees('Your membership is on hold')
    await phone.tap('All requests')
    await stage.removeMember(ada)
    await phone.tap('Sign in')
    await phone.sees('You’re no longer a member')
    await phone.tap('All requests')
    await phone.sees('No open requests')
    expect(await phone.page.getByRole('group', { name: 'acme' }).count()).toBe(0)
  })
})

describe('after a sign-out', () => {
  test('nothing about an organization is kept, also if the answer was lost', async () => {
    const { phone, name } = await inTwo()
    await phone.page.route('**/svc/v1/approver/session', async (route) => {
      if (route.request().method() !== 'DELETE') return route.continue()
      await route.fetch()
      await route.abort()
    })
    await phone.tap(`Sign out of ${name}`)
    await header(phone, 'acme')
    await phone.sees('No open requests')
    await expect.poll(() => keptBy(phone)).not.toContain(name)
    expect(await phone.page.getByRole('group', { name }).count()).toBe(0)
  })

  test('of the last organization, nothing about any is kept, and no organization is named', async () => {
    const { ada, phone, name } = await inTwo()
    await (
      await createPicker(phone)
    )(name)
    await stage.revokeDevices(ada)
    await phone.page.getByRole('group', { name: 'acme' }).waitFor()
    await phone.tap('Sign out')
    await phone.page.getByRole('status').getByText(`You’re signed out of ${name}.`).waitFor()
    await phone.sees('Sign in')
    await header(phone, 'Approvals')
    const kept = await keptBy(phone)
    expect(kept).not.toContain('acme')
    expect(kept).not.toContain(name)
    await phone.tap('Sign in')
    await phone.sees('No open requests')
    expect(await phone.page.getByText('on this device. Sign in').count()).toBe(0)
    expect(phone.misdeeds).toEqual([])
  })

  test('the person signs in to each organization again, one after the other', async () => {
    const { ada, phone, name } = await inTwo()
    const pick = await createPicker(phone)
    await pick('acme')
    await pretend(phone, 'granted')
    await phone.sees('No open requests')
    await phone.tap(`Sign out of ${name}`)
    await phone.tap('Sign out')
    await phone.tap('Sign in')
    await header(phone, 'acme')
    await phone.tap('Sign in to another organization')
    await phone.page.getByRole('alert').getByText('You’re already signed in to acme.').waitFor()
    await pick(name)
    let release: (() => void) | undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    await phone.page.route('**/svc/v1/approver/push', (route) => released.then(() => route.continue()))
    const reported = phone.page.waitForResponse('**/svc/v1/approver/push')
    await phone.tap('Sign in to another organization')
    const news = phone.page.getByRole('status').getByText(`You’re signed in to ${name}.`)
    await news.waitFor()
    release?.()
    await reported
    expect(await phone.page.getByLabel('Organization').locator('option').allTextContents()).toEqual([
      'acme',
      name,
    ])
    const { request_id } = await stage.ask(ada)
    await card(phone, request_id).waitFor()
    // The screen is still the same.
    expect(await news.count()).toBe(1)
    expect(await flaws(phone)).toEqual([])
    // The sign-out ended its notifications.
    await phone.page.getByLabel('Organization').selectOption({ label: name })
    await phone.page.getByText('Notifications: on').waitFor()
    expect(phone.misdeeds).toEqual([])
  })
})

test('a device that its owner removes from one organization says so', async () => {
  const { phone, name } = await inTwo()
  await phone.page.evaluate(`location.hash = 'devices'`)
  await phone.page.getByRole('button', { name: /^Remove / }).click()
  await phone.tap('Remove')
  await phone.sees('No open requests')
  await phone.page.getByRole('status').getByText(`This device was removed from ${name}.`).waitFor()
  await header(phone, 'acme')
  expect(await keptBy(phone)).not.toContain(name)
})
