import { expect, test } from 'vitest'
import { dataOf } from '../service/fixtures.ts'
import { ask } from '../service/approver.ts'
import type { Phone } from './page-phone.ts'
import { flaws } from './page-flaws.ts'
import { installHooks, stage } from './open-stage.ts'

// What a person sees of the requests that wait.

installHooks()

const headlines = ({ page }: Phone): Promise<string[]> => page.locator('.card .asked').allTextContents()
const pattern = ({ page }: Phone, action: string): Promise<string | null> =>
  page.locator('.card', { hasText: action }).locator('.pattern path').getAttribute('d')

test('the request that expires first is at the top, also if it arrives last', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await stage.ask(user, { action: 'Rotate the keys', lifetime_s: 900 })
  await phone.sees('1 request is waiting')
  await phone.page.locator('.card').focus()
  await stage.ask(user, { action: 'Open the door', lifetime_s: 55 })
  await phone.sees('2 requests are waiting')
  expect(await headlines(phone)).toEqual(['Open the door', 'Rotate the keys'])
  expect(await phone.page.locator('.card:focus .asked').textContent()).toBe('Rotate the keys')
  expect(await phone.page.locator('.left.short').allTextContents()).toEqual([
    expect.stringMatching(/^0:\d\d left$/),
  ])
  expect(await flaws(phone)).toEqual([])
  await phone.page.reload()
  await phone.sees('2 requests are waiting')
  expect(await headlines(phone)).toEqual(['Open the door', 'Rotate the keys'])
})

test('each key has a pattern of its own, by which it is recognized', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const { service, org } = stage
  const keyCalled = async (name: string): Promise<string> =>
    dataOf(
      await service.call('POST', '/svc/v1/keys', {
        body: { name, org_id: org.id, scopes: ['ask'] },
      }),
    ).key
  const [one, other] = [await keyCalled('ci-prod'), await keyCalled('ci-pr0d')]
  for (const [action, key] of [
    ['First', one],
    ['Second', other],
    ['Third', one],
  ] as const)
    dataOf(await ask(service, user, { action }, key))
  await phone.sees('3 requests are waiting')
  expect(await pattern(phone, 'First')).toBe(await pattern(phone, 'Third'))
  expect(await pattern(phone, 'First')).not.toBe(await pattern(phone, 'Second'))
})

test('without a connection, an empty list does not say that nothing waits', async () => {
  const phone = await stage.enrolled(await stage.person())
  const focused = phone.page.locator('h1:focus')
  expect(await focused.count()).toBe(1)
  await phone.context.setOffline(true)
  await phone.sees('No connection')
  expect(await phone.page.locator('h1').allTextContents()).toEqual(['No connection'])
  expect(await focused.count()).toBe(1)
  expect(await flaws(phone)).toEqual([])
  await phone.context.setOffline(false)
  await expect(phone.sees('No open requests')).resolves.toBeUndefined()
})

test('the button below the list is in its middle, as all others are', async () => {
  const phone = await stage.enrolled(await stage.person())
  const middle = async (name: string): Promise<number> => {
    const box = (await phone.page.getByRole('button', { name, exact: true }).boundingBox())!
    return Math.round(box.x + box.width / 2)
  }
  expect(await middle('Sign in to another organization')).toBe(await middle('Sign out'))
})

test('a headline of 500 characters is a text, not a wall of bold type', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const weights: string[] = []
  for (const action of ['Deploy 4.2', 'Deploy 4.2 and nothing else. '.repeat(17)]) {
    const { request_id } = await stage.ask(user, { action })
    await phone.page.goto(`${stage.origin}/approver#request=${request_id}`)
    await phone.page.locator('.paper h1', { hasText: action.trim() }).waitFor()
    weights.push(await phone.page.evaluate(`getComputedStyle(document.querySelector('h1')).fontWeight`))
  }
  expect(weights).toEqual(['680', '450'])
})
