import { expect, test } from 'vitest'
import { installHooks, stage } from './open-stage.ts'
import { flaws } from './page-flaws.ts'
import type { Phone } from './page-phone.ts'

// A screen with room for the list of requests and one of them.

installHooks()

const beside = ({ page }: Phone) => page.getByRole('navigation', { name: 'All requests' })
const headlines = (phone: Phone): Promise<string[]> => beside(phone).locator('.asked').allTextContents()

test('a wide screen shows the list beside the request that is open', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const { page } = phone
  await page.setViewportSize({ width: 1280, height: 800 })
  await stage.ask(user, { action: 'Open the door' })
  await phone.sees('1 request is waiting')
  await page.locator('.card').click()
  await phone.sees('Open the door')
  expect(await beside(phone).count()).toBe(0)
  await stage.ask(user, { action: 'Rotate the keys' })
  await beside(phone).getByText('Rotate the keys').waitFor()
  expect(await headlines(phone)).toEqual(['Open the door', 'Rotate the keys'])
  expect(await beside(phone).locator('[aria-current=page] .asked').textContent()).toBe('Open the door')
  const [list, request] = [await beside(phone).boundingBox(), await page.locator('main').boundingBox()]
  expect(list!.x + list!.width).toBeLessThanOrEqual(request!.x)
  expect(list!.y).toBeCloseTo(request!.y, -1)
  expect(await flaws(phone)).toEqual([])

  await beside(phone).getByText('Rotate the keys').click()
  await phone.sees('Rotate the keys')
  expect(await beside(phone).locator('[aria-current=page] .asked').textContent()).toBe('Rotate the keys')
  await page.setViewportSize({ width: 1000, height: 800 })
  await beside(phone).waitFor({ state: 'hidden' })
  await page.setViewportSize({ width: 1280, height: 800 })
  await beside(phone).waitFor()
  await phone.tap('Deny')
  await phone.sees('Denied')
  await beside(phone).getByText('Rotate the keys').waitFor({ state: 'detached' })
  expect(await headlines(phone)).toEqual(['Open the door'])
})
