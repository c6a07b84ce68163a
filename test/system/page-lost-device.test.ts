import { withoutPhones } from '../../src/cli/terminal/mask-prose.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { flaws } from './page-flaws.ts'
import { installHooks, stage } from './open-stage.ts'
import { approved, goTo, rename, row, tells } from './page-own-devices.ts'

installHooks()

afterEach(() => stage.setPolicy({ recovery_delay_s: 0 }))

test('a lost device is removed together with what it added, if its owner ticks that', async () => {
  const lost = await stage.enrolled(await stage.person())
  await goTo(lost, 'devices', 'Devices')
  await rename(lost, /computer|Android/, 'Lost')
  const second = await approved(lost)
  await goTo(lost, 'devices', 'Devices')
  const third = await approved(lost)
  await goTo(second, 'devices', 'Devices')
  const added = second.page.getByText('These were added with this device. They keep working unless')
  const remove = () => row(second, 'Lost').getByRole('button', { name: 'Remove Lost' }).click()
  await remove()
  await added.waitFor()
  await second.page.getByRole('listitem').getByText('Device: ').waitFor()
  expect(await flaws(second)).toEqual([])
  // Without the tick, the other one stays.
  await second.tap('Cancel')
  await remove()
  await second.page.getByText('If you remove them too, they’re signed out immediately').waitFor()
  await second.page.getByRole('checkbox', { name: 'Remove these too' }).check()
  await second.tap('Remove')
  await tells(second, 'Lost and what was added with it are removed.')
  await third.sees('This device was removed')
  await second.page.getByText('2 removed devices').waitFor()
  await row(second, /./).getByText('This device', { exact: true }).waitFor()
  expect([...lost.misdeeds, ...second.misdeeds, ...third.misdeeds]).toEqual([])
})

describe('a lost phone', () => {
  test('of a person with another device is removed there', async () => {
    const user = await stage.person()
    const lost = await stage.enrolled(user)
    const backup = await approved(lost)
    await goTo(backup, 'devices', 'Devices')
    await backup.page
      .getByRole('button', { name: /^Remove / })
      .first()
      .click()
    await backup.tap('Remove')
    await tells(backup, 'Removed.')
    await lost.sees('This device was removed')
    expect(await flaws(lost)).toEqual([])
    await lost.tap('Sign in')
    // With its key, which is over, nothing more can be tried.
    await lost.page.locator('.plain', { hasText: 'Sign in' }).click()
    await lost.page.getByText('Lost your device?').click()
    await lost.page.getByText('contact an administrator of your organization').waitFor()
    expect(await flaws(lost)).toEqual([])
    await lost.tap('Sign in')
    await lost.sees('This device was removed')
  })

  test('of a person without another is replaced by an administrator, on the page alone', async () => {
    const admin = await stage.person()
    await stage.makeAdmin(admin)
    const chief = await stage.enrolled(admin)
    const user = await stage.person({ first_name: 'Grace', last_name: 'Hopper' })
    const lost = await stage.enrolled(user)
    await goTo(chief, 'members', 'Members')
    await chief.page.getByText('Active members').click()
    await chief.page.getByRole('link', { name: 'Grace Hopper' }).click()
    await chief.sees(/^Member$/)
    expect(await flaws(chief)).toEqual([])
    await chief.page.getByRole('button', { name: /^Remove / }).click()
    await chief.page.getByText('It’s their last device.').waitFor()
    await chief.tap('Remove')
    await tells(chief, 'Removed.')
    await lost.sees('This device was removed')
    await chief.tap('Send a link for a new device')
    await tells(chief, 'A link to register a phone is on its way by SMS.')
    await expect
      .poll(() => stage.log().includes(`sms (enrollment) to ${withoutPhones(`+1${user.mobile}`)}`))
      .toBe(true)
    const phone = await stage.registered(user)
    await phone.sees('Waiting for an administrator')
    await chief.page.getByText('It waits for the approval of an administrator.').waitFor()
    expect(await flaws(chief)).toEqual([])
    await chief.page.getByRole('link', { name: 'under Devices' }).click()
    await chief.sees('Devices')
    await row(chief, 'Grace Hopper').getByRole('button', { name: 'Approve' }).click()
    await tells(chief, 'Approved.')
    await stage.reachesInbox(phone)
    expect([...chief.misdeeds, ...phone.misdeeds]).toEqual([])
  })
})
