import { expect, test } from 'vitest'
import { show } from '../service/approver.ts'
import { dataOf } from '../service/fixtures.ts'
import { installHooks, open, stage } from './open-stage.ts'

installHooks()

test.each([-2, 2])(
  'a clock that is %i hours off changes neither the time left nor the decision nor a date',
  async (hours) => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await phone.page.clock.install({ time: Date.now() + hours * 60 * 60_000 })
    await phone.page.reload()
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await phone.page
      .getByRole('timer')
      .getByText(/^4:\d\d left to decide/)
      .waitFor()
    await phone.tap('Approve')
    await phone.sees('Approved')
    const { status, decided_at } = dataOf(await show(stage.service, request_id))
    expect(status).toBe('approved')
    const time = `new Date('${decided_at}').toLocaleTimeString('en-US', { timeStyle: 'short' })`
    await phone.page.getByText(`${await phone.page.evaluate(time)}.`).waitFor()
    await phone.page.reload()
    await phone.page.getByText(`${await phone.page.evaluate(time)}.`).waitFor()
    await phone.page.evaluate(`location.hash = 'devices'`)
    const date = await phone.page.evaluate(
      `new Date('${decided_at}').toLocaleDateString('en-US', { dateStyle: 'medium' })`,
    )
    await expect(phone.page.getByText(`Last used ${String(date)}`).waitFor()).resolves.toBeUndefined()
  },
)
