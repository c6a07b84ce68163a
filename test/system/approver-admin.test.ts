import { afterEach, describe, expect, test } from 'vitest'
import { installHooks, stage } from './open-stage.ts'

installHooks()

afterEach(async () => {
  for (const id of await stage.waiting()) await stage.accept({ id })
})

describe('an admin', () => {
  test('accepts pending members, verified each time', async () => {
    const admin = await stage.person()
    await stage.makeAdmin(admin)
    const member = await stage.person()
    await stage.putOnHold(member)
    const phone = await stage.enrolled(admin)
    await phone.page.getByRole('link', { name: '1 person is waiting or on hold' }).click()
    await phone.sees('Members')
    await phone.setOwner(false)
    await phone.tap('Accept')
    await phone.page.getByRole('alert').getByText('was cancelled or timed out').waitFor()
    await phone.setOwner(true)
    await phone.tap('Accept')
    await phone.page.getByRole('status').getByText('is accepted').waitFor()
    expect(await stage.waiting()).toEqual([])
    await phone.page.getByRole('link', { name: 'All requests' }).click()
    await expect(phone.page.getByRole('link', { name: 'Members' }).waitFor()).resolves.toBeUndefined()
  })

  test('puts an active member on hold and reactivates them, by keyboard alone', async () => {
    const admin = await stage.person()
    await stage.makeAdmin(admin)
    for (let n = 0; n < 30; n += 1) await stage.person()
    const grace = await stage.person({ first_name: 'Grace', last_name: 'Hopper' })
    const phone = await stage.enrolled(admin)
    const { page } = phone
    await page.getByRole('link', { name: 'Members' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Active members').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText(/^Showing 30 of \d+\.$/).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.type('hopp')
    await page.getByRole('listitem').filter({ hasText: 'Grace Hopper' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Hold/ }).count()).toBe(1)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Grace Hopper is on hold.').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Grace Hopper is on hold.')
    expect(await stage.waiting()).toEqual([grace.id])
    await phone.tap('Accept')
    await page.getByRole('status').getByText('Grace Hopper is accepted.').waitFor()
    expect(await stage.waiting()).toEqual([])
    expect(phone.misdeeds).toEqual([])
  })
})
