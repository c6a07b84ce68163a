import { describe, expect, test } from 'vitest'
import { dataOf } from '../service/fixtures.ts'
import { calls, devicesOf, disturb, endSession } from './page-faults.ts'
import { flaws } from './page-flaws.ts'
import { addAuthenticator } from './page-phone.ts'
import { installHooks, stage } from './open-stage.ts'

installHooks()

// The ways into the page, and what a device that may not enter is told.

describe('a link', () => {
  test('that was registered with says so after a reload, and leads to the inbox', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await disturb(phone, calls.registerDevice, 'lost after')
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this device')
    await phone.page.getByRole('alert').getByText('No answer yet').waitFor()
    await phone.page.reload()
    await phone.sees('This link was already used')
    await phone.tap('Sign in')
    // The screen stays until the page knows that there is no session.
    await phone.sees(/^Sign in$/)
    await phone.tap('Sign in')
    await stage.reachesInbox(phone)
    expect(await devicesOf(user)).toHaveLength(1)
  })

  test('goes on after a reload in the middle', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.setOwner(false)
    await phone.tap('Register this device')
    await phone.page.getByRole('alert').getByText('cancelled').waitFor()
    await phone.page.reload()
    await phone.setOwner(true)
    await phone.tap('Register this device')
    await stage.reachesInbox(phone)
    expect(phone.page.url()).toBe(`${stage.origin}/approver`)
  })

  test('that was opened in the running page is left with Back', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.page.goto(`${stage.origin}/approver`)
    await phone.sees('Sign in')
    await phone.page.evaluate(`location.hash = '${new URL(await stage.linkFor(user.id)).hash}'`)
    await phone.sees('Hello Ada')
    await phone.page.goBack()
    await phone.sees('Sign in')
    await phone.page.goForward()
    await expect(phone.sees('Hello Ada')).resolves.toBeUndefined()
  })

  test('in two tabs registers one device, which stays usable', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    const link = await stage.linkFor(user.id)
    await phone.page.goto(link)
    await phone.sees('Hello Ada')
    const tab = await phone.context.newPage()
    await addAuthenticator(tab)
    await tab.goto(link)
    await tab.getByRole('heading', { name: 'Hello Ada' }).waitFor()
    await phone.page.bringToFront()
    await phone.tap('Register this device')
    await stage.reachesInbox(phone)
    await tab.bringToFront()
    await tab.getByRole('button', { name: 'Register this device' }).click()
    await tab.getByRole('heading', { name: 'This link was already used' }).waitFor()
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.getByRole('heading', { name: 'No open requests' }).waitFor()
    expect(await devicesOf(user)).toHaveLength(1)
    await endSession(phone)
    await phone.page.bringToFront()
    await phone.page.reload()
    await phone.tap('Sign in')
    await expect(stage.reachesInbox(phone)).resolves.toBeUndefined()
  })

  test.each([
    ['cut off', (hash: string) => hash.slice(0, -5), 'This link is incomplete'],
    [
      'with another letter',
      (hash: string) => hash.replace(/.$/, (one) => (one === 'A' ? 'E' : 'A')),
      'This link doesn’t work',
    ],
    ['with a full stop of the sentence', (hash: string) => `${hash}.`, 'Hello Ada'],
    ['encoded once more', (hash: string) => `#${encodeURIComponent(hash.slice(1))}`, 'Hello Ada'],
  ])('that is damaged says so: %s', async (_, damage, heading) => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    const link = new URL(await stage.linkFor(user.id))
    await phone.page.goto(`${stage.origin}/approver${damage(link.hash)}`)
    await phone.sees(heading)
    expect(await flaws(phone)).toEqual([])
  })

  test('of a member on hold says so', async () => {
    const user = await stage.person()
    const link = await stage.linkFor(user.id)
    await stage.putOnHold(user)
    const phone = await stage.openPhone()
    await phone.page.goto(link)
    await expect(phone.sees('Your membership is on hold')).resolves.toBeUndefined()
  })
})

describe('a device that cannot sign in is told why', () => {
  test('a member on hold, who can sign in again once accepted', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await stage.putOnHold(user)
    await phone.page.reload()
    await phone.tap('Sign in')
    await phone.sees('Your membership is on hold')
    expect(await flaws(phone)).toEqual([])
    await stage.accept(user)
    await phone.tap('Sign in')
    await phone.tap('Sign in')
    await expect(stage.reachesInbox(phone)).resolves.toBeUndefined()
  })

  test('a registration that never ended', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await disturb(phone, calls.registerDevice, 'lost before')
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this device')
    await phone.page.getByRole('alert').getByText('No answer yet').waitFor()
    await phone.page.goto('about:blank')
    await phone.page.goto(`${stage.origin}/approver`)
    await phone.tap('Sign in')
    await phone.sees('This device isn’t registered')
    await expect(phone.page.getByText('open your link again').waitFor()).resolves.toBeUndefined()
  })

  test('a former member, at once and whenever they try again', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const body = { org_id: stage.org.id, user_id: user.id }
    dataOf(await stage.service.call('POST', '/organization/remove/user', { body }))
    await phone.page.reload()
    await phone.sees('You’re no longer a member')
    await phone.tap('Sign in')
    await phone.sees('Sign in')
    await phone.tap('Sign in')
    await expect(phone.sees('You’re no longer a member')).resolves.toBeUndefined()
  })
})

test('signing in goes on after a reload in the middle', async () => {
  const phone = await stage.enrolled(await stage.person())
  await endSession(phone)
  await phone.page.reload()
  await phone.setOwner(false)
  await phone.tap('Sign in')
  await phone.page.getByRole('alert').getByText('cancelled').waitFor()
  await phone.page.reload()
  await phone.setOwner(true)
  await phone.tap('Sign in')
  await expect(stage.reachesInbox(phone)).resolves.toBeUndefined()
})

describe('an address with an id that cannot be one', () => {
  test('shows nothing else, and calls nothing else', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await stage.makeAdmin(user)
    for (const [hash, heading, text] of [
      ['#request=%zz', 'No such request here', 'It was sent to someone else'],
      ['#request=.', 'No such request here', 'It was sent to someone else'],
      [`#request=${'a'.repeat(65)}`, 'No such request here', 'It was sent to someone else'],
      ['#decision=..', 'Decision', 'It no longer exists.'],
      // As a part of an address: the devices of the person who is signed in.
      ['#member=..', 'Member', 'It no longer exists.'],
    ] as const) {
      await phone.page.goto(`${stage.origin}/approver#`)
      await phone.sees('No open requests')
      await phone.page.goto(`${stage.origin}/approver${hash}`)
      await phone.sees(heading)
      await phone.page.getByText(text).waitFor()
    }
    expect(phone.misdeeds).toEqual([])
  })
})
