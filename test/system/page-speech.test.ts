import { expect, test } from 'vitest'
import type { Phone } from './page-phone.ts'
import { listen } from './page-speech.ts'
import { installHooks, open, stage } from './open-stage.ts'

// What a screen reader reads by itself, screen by screen.

installHooks({ notifications: true })

const focused = ({ page }: Phone) => page.locator(':focus')

/** A phone at its inbox, and what is read there. */
const listening = async (user: { id: number }) => {
  const phone = await stage.openPhone()
  const { heard } = await listen(phone)
  await phone.page.goto(await stage.linkFor(user.id))
  await phone.tap('Register this device')
  await stage.reachesInbox(phone)
  const texts = async (): Promise<string[]> => (await heard()).map(({ by, text }) => `${by}: ${text}`)
  return { phone, texts }
}

test('reads each screen by its heading, with a title of its own', async () => {
  const user = await stage.person()
  const phone = await stage.openPhone()
  const { heard } = await listen(phone)
  const titles: string[] = []
  const arrives = async (heading: string): Promise<void> => {
    await phone.sees(heading)
    await expect.poll(() => focused(phone).textContent()).toBe(heading)
    titles.push(await phone.page.title())
  }
  await phone.page.goto(await stage.linkFor(user.id))
  await arrives('Hello Ada')
  await phone.tap('Register this device')
  await arrives('This device is registered')
  await phone.tap('Continue')
  await arrives('Turn on notifications?')
  await phone.tap('Not now')
  await arrives('No open requests')
  for (const name of ['Devices', 'Your decisions', 'Muted requesters', 'Agents and terminals']) {
    await phone.page.getByRole('link', { name, exact: true }).click()
    await arrives(name)
    await phone.page.getByRole('link', { name: 'All requests' }).click()
    await phone.sees('No open requests')
  }
  expect(new Set(titles).size).toBe(titles.length)
  expect((await heard()).filter(({ by, text }) => by === 'region' && text !== 'One moment…')).toEqual([])
})

test('reads the way of a decision, each step once', async () => {
  const user = await stage.person()
  const { phone, texts } = await listening(user)
  await texts()
  const { request_id } = await stage.ask(user)
  // The heading had the focus, and has it again.
  await phone.sees('1 request is waiting')
  await expect.poll(() => focused(phone).textContent()).toBe('1 request is waiting')
  expect(await texts()).toEqual(['focus: 1 request is waiting'])
  await open(phone, request_id)
  expect((await texts()).at(-1)).toBe('focus: Deploy 4.2')
  await phone.page.getByRole('button', { name: 'Approve', exact: true }).press('Enter')
  await phone.sees('Approved')
  expect(await texts()).toEqual([
    'focus: Approve',
    'region: Waiting for your device…',
    'region: Sending…',
    'focus: Approved',
  ])
  await phone.tap('Done')
  await phone.sees('No open requests')
  await texts()
  await phone.page.getByRole('button', { name: 'Sign out' }).focus()
  await stage.ask(user)
  await phone.sees('1 request is waiting')
  // The focus is elsewhere, so the number of requests is announced.
  expect((await texts()).slice(1)).toEqual(['region: 1 request is waiting'])
})

test('reads what a refusal was for, and not that its answer is missing', async () => {
  const user = await stage.person()
  const { phone, texts } = await listening(user)
  await stage.locate(phone, { latitude: 52, longitude: 13 })
  await stage.setFence(user)
  const { request_id } = await stage.ask(user)
  await phone.page.locator(`a[href="#request=${request_id}"]`).waitFor()
  await open(phone, request_id)
  await texts()
  await phone.page.getByRole('button', { name: 'Approve', exact: true }).press('Enter')
  await phone.sees('Not approved')
  expect((await texts()).slice(1)).toEqual([
    'region: Waiting for your device…',
    'region: Sending…',
    'region: Checking the result…',
    'focus: Not approved',
  ])
})

test('takes an announcement away after a while', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await phone.page.clock.install()
  await phone.page.getByRole('button', { name: 'Sign out' }).focus()
  const announcement = phone.page.locator('#announcement')
  const said = announcement.getByText('1 request is waiting').waitFor()
  await stage.ask(user)
  await said
  await phone.page.clock.runFor(5000)
  expect(await announcement.textContent()).toBe('')
})

test('reads a question before its answer, and Back leads to where it was asked', async () => {
  const user = await stage.person()
  const { phone, texts } = await listening(user)
  const { request_id } = await stage.ask(user)
  await phone.page.locator(`a[href="#request=${request_id}"]`).waitFor()
  await open(phone, request_id)
  for (const [name, first] of [
    ['This wasn’t me', 'Report this request?'],
    ['Deny with a note', ''],
  ] as const) {
    await phone.page.getByRole('button', { name }).press('Enter')
    await phone.page.getByRole('button', { name: 'Back' }).waitFor()
    expect(await focused(phone).textContent()).toBe(first)
    await phone.page.getByRole('button', { name: 'Back' }).press('Enter')
    expect(await focused(phone).textContent()).toBe(name)
  }
  const note = phone.page.getByRole('textbox')
  await phone.tap('Deny with a note')
  expect(await note.ariaSnapshot()).toContain('Note to the requester')
  await phone.tap('Back')
  await phone.page.getByRole('link', { name: 'All requests' }).click()
  await phone.page.getByRole('link', { name: 'Devices' }).click()
  await phone.sees('Devices')
  await phone.page.getByRole('button', { name: /^Remove / }).press('Enter')
  await phone.page.getByRole('group', { name: /signed out immediately.*It’s your last device/ }).waitFor()
  expect(await focused(phone).textContent()).toBe('Cancel')
  await texts()
})

test('keeps the focus on the sign of new requests while more arrive', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await phone.page.getByRole('link', { name: 'Agents and terminals' }).click()
  await phone.sees('Agents and terminals')
  await stage.ask(user)
  await phone.page.getByRole('link', { name: 'A new request arrived' }).focus()
  await stage.ask(user)
  await phone.page.getByRole('link', { name: '2 new requests arrived' }).waitFor()
  expect(await focused(phone).textContent()).toContain('2 new requests')
})

test('counts the requests and the ways to other screens as lists', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await stage.ask(user)
  await phone.sees('1 request is waiting')
  const lists = phone.page.locator('[role=list]')
  expect(await lists.count()).toBe(2)
  expect(await lists.first().getByRole('listitem').count()).toBe(1)
  expect(await lists.last().getByRole('link', { name: 'Devices' }).count()).toBe(1)
})

test('goes on with the older decisions that a tap has brought', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const ids: string[] = []
  for (const action of ['Deploy 1', 'Deploy 2']) {
    const { request_id } = await stage.ask(user, { action })
    await stage.service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { body: {} })
    ids.push(request_id)
  }
  // As if the first page had room for one.
  await phone.page.route(
    '**/approver/decisions*',
    async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { data: { decisions: unknown[]; next: string | null } }
      answer.data.decisions.splice(1)
      answer.data.next = ids[1]!
      await route.fulfill({ response, json: answer })
    },
    { times: 1 },
  )
  await phone.page.getByRole('link', { name: 'Your decisions' }).click()
  await phone.page.getByText('Deploy 2').waitFor()
  await phone.page.getByRole('button', { name: 'Show older' }).press('Enter')
  await phone.page.getByText('Deploy 1').waitFor()
  await expect.poll(() => focused(phone).textContent()).toContain('Deploy 1')
})
