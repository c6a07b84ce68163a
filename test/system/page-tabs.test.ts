import { describe, expect, test } from 'vitest'
import { installHooks, open, stage } from './open-stage.ts'

installHooks()

describe('several tabs', () => {
  test('eight of them leave a connection for the decision, and all show the same', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const others = []
    for (let n = 0; n < 7; n += 1) {
      const page = await phone.context.newPage()
      await page.goto(`${stage.origin}/approver`)
      await page.getByRole('heading', { name: 'No open requests' }).waitFor()
      others.push(page)
    }
    const { request_id } = await stage.ask(user)
    for (const page of others) await page.getByRole('heading', { name: '1 request is waiting' }).waitFor()
    await open(phone, request_id)
    await phone.tap('Approve')
    await phone.sees('Approved')
    for (const page of others) await page.getByRole('heading', { name: 'No open requests' }).waitFor()
    await phone.tap('Done')
    await phone.tap('Sign out')
    for (const page of others) await page.getByRole('heading', { name: /^Sign in/ }).waitFor()
    expect(phone.misdeeds).toEqual([])
  })

  test('one continues when the one that waits is closed', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const other = await phone.context.newPage()
    await other.goto(`${stage.origin}/approver`)
    await other.getByRole('heading', { name: 'No open requests' }).waitFor()
    await other.close()
    await stage.ask(user)
    await expect(phone.sees('1 request is waiting')).resolves.toBeUndefined()
  })
})
