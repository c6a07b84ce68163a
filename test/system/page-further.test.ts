import { expect, test } from 'vitest'
import type { Phone } from './page-phone.ts'
import { installHooksBehindProxy, network, stage } from './open-stage.ts'
import { firstVisit } from './page-size.ts'

// The screens that nobody needs to decide a request are a file of their own, which is read when the first of them is opened.

installHooksBehindProxy()

const file = /^\/approver\/further\.js/

/** A phone at its requests, with its worker, that has opened no further screen. */
const phoneOf = async (): Promise<Phone> => {
  const phone = await stage.enrolled(await stage.person())
  await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
  await phone.page.reload()
  await phone.sees('No open requests')
  return phone
}

const openHistory = ({ page }: Phone): Promise<void> =>
  page.getByRole('link', { name: 'Your decisions' }).click()

const gate = () => {
  let open!: () => void
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

/** Resolves once the page has its file, or knows that it gets none. */
const settled = ({ page }: Phone): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const look = () => performance.getEntriesByType('resource').some(({ name }) => name.includes('/further.js'))
      ? setTimeout(resolve) : requestAnimationFrame(look)
    look()
  })`)

test('a first visit fetches what counts as its size, and nothing else', async () => {
  const phone = await stage.openPhone()
  await phone.page.goto(`${stage.origin}/approver`)
  await phone.sees('Sign in')
  await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
  const names = network
    .fetched()
    .filter((path) => path.startsWith('/approver'))
    .map((path) => path.slice('/approver/'.length) || 'index.html')
  expect(names.toSorted()).toEqual(firstVisit('en').toSorted())
})

test('a further screen opens without a network once its file was used', async () => {
  const phone = await phoneOf()
  await openHistory(phone)
  await phone.sees('Your decisions')
  void network.fail('GET', file, 'before')
  await phone.page.goto('about:blank')
  await phone.page.goto(`${stage.origin}/approver#groups`)
  await phone.sees('Groups of approvers')
  expect(phone.misdeeds).toEqual([])
})

test('the screen before stays while the file is loaded', async () => {
  const phone = await phoneOf()
  const { opened, open } = gate()
  const asked = network.fail('GET', file, opened, 1)
  await openHistory(phone)
  await asked
  await phone.page.locator('main[data-busy]').getByRole('heading', { name: 'No open requests' }).waitFor()
  open()
  await phone.sees('Your decisions')
  expect(phone.misdeeds).toEqual([])
})

test('without its file, a further screen says that there is no connection, and can be tried again', async () => {
  const phone = await phoneOf()
  void network.fail('GET', file, 'before')
  await openHistory(phone)
  await phone.sees('No connection')
  network.mend()
  await phone.tap('Try again')
  await expect(phone.sees('Your decisions')).resolves.toBeUndefined()
})

test.each(['loaded', 'lost'])('a screen that was left shows nothing once its file is %s', async (end) => {
  const phone = await phoneOf()
  const { opened, open } = gate()
  const asked = network.fail('GET', file, end === 'loaded' ? opened : 'stalled')
  await openHistory(phone)
  await asked
  await phone.page.goBack()
  await phone.page.locator('main:not([data-busy])').waitFor()
  open()
  if (end === 'lost') network.mend()
  await settled(phone)
  await expect(phone.sees('No open requests')).resolves.toBeUndefined()
})
