import { withoutPhones } from '../../src/cli/terminal/mask-prose.ts'
import { afterEach, describe, expect, test } from 'vitest'
import type { Phone } from './page-phone.ts'
import { flaws } from './page-flaws.ts'
import { installHooks, stage } from './open-stage.ts'

installHooks()

afterEach(() => stage.setPolicy({ device_proof: 'link', recovery_delay_s: 0 }))

const openDevices = async (phone: Phone): Promise<void> => {
  await phone.page.goto(`${stage.origin}/approver#devices`)
  await phone.page.reload()
  await phone.sees('Devices')
}

const codeSentTo = ({ mobile }: { mobile: string }): string | undefined =>
  new RegExp(`to \\${withoutPhones(`+1${mobile}`)}: (\\d{6}) registers`).exec(
    stage.log().split('\n').toReversed().join('\n'),
  )?.[1]

/** The number that both screens show. */
const toCompare = ({ page }: Phone): Promise<string | null> =>
  page.getByText(/^Number to compare: \d{3}\s\d{3}$/).textContent()

describe('a second phone', () => {
  test('waits until the first phone approves it, verified', async () => {
    const user = await stage.person()
    const first = await stage.enrolled(user)
    const second = await stage.registered(user)
    await second.sees('Waiting for your other device')
    await second.tap('Check again')
    await second.page.getByRole('alert').getByText('Not approved yet.').waitFor()
    await first.page.reload()
    await first.page.getByRole('link', { name: 'Devices: 1 new device needs approval' }).click()
    await first.sees('Devices')
    expect(await toCompare(first)).toBe(await toCompare(second))
    expect(await flaws(first)).toEqual([])
    await first.setOwner(false)
    await first.tap('Approve')
    await first.page.getByRole('alert').getByText('was cancelled or timed out').waitFor()
    await first.setOwner(true)
    await first.tap('Approve')
    await first.page.getByRole('status').getByText('Approved.').waitFor()
    await stage.reachesInbox(second)
    expect([...first.misdeeds, ...second.misdeeds]).toEqual([])
  })

  test('of the same kind has another name, and a removal asks with what tells them apart', async () => {
    const user = await stage.person()
    const first = await stage.enrolled(user)
    const second = await stage.openPhone()
    await second.page.goto(await stage.linkFor(user.id))
    const suggested = await second.page.getByLabel('Name of this device').inputValue()
    expect(suggested).toMatch(/^Ada’s .+ 2$/)
    await second.tap('Register this device')
    await second.sees('Waiting for your other device')
    await openDevices(first)
    await first.page.getByRole('heading', { name: suggested, exact: true }).waitFor()
    // True of both devices, although only one of them shows it.
    expect(await first.page.getByText('Device-bound passkey: it can’t be synced').count()).toBe(2)
    await first.page.getByRole('button', { name: /^Remove / }).click()
    const question = first.page.locator('.editing')
    await question.getByText(/^Added \w+ \d/).waitFor()
    await question.getByText(/^(?:Last used \w+ \d|Not used yet)/).waitFor()
    expect(await flaws(first)).toEqual([])
  })

  test('is rejected, and says so', async () => {
    const user = await stage.person()
    const first = await stage.enrolled(user)
    const second = await stage.registered(user)
    await second.sees('Waiting for your other device')
    await openDevices(first)
    await first.tap('Refuse')
    await first.page
      .getByRole('status')
      .getByText('It can’t approve anything for this organization.')
      .waitFor()
    await expect(second.sees('This device was refused')).resolves.toBeUndefined()
  })
})

describe('a phone that replaces a lost one', () => {
  test('waits until an admin approves it, verified', async () => {
    const admin = await stage.person()
    await stage.makeAdmin(admin)
    const chief = await stage.enrolled(admin)
    const user = await stage.person({ first_name: 'Grace', last_name: 'Hopper' })
    await stage.enrolled(user)
    await stage.revokeDevices(user)
    const phone = await stage.registered(user)
    await phone.sees('Waiting for an administrator')
    expect(await flaws(phone)).toEqual([])
    await openDevices(chief)
    await chief.page.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
    const headings = chief.page.getByRole('heading', { level: 2 })
    expect(await headings.first().textContent()).toBe('Members who lost their device')
    expect(await toCompare(chief)).toBe(await toCompare(phone))
    await chief.tap('Approve')
    await chief.page.getByRole('status').getByText('Approved.').waitFor()
    await stage.reachesInbox(phone)
    expect([...chief.misdeeds, ...phone.misdeeds]).toEqual([])
  })

  test('reports when it becomes active, and the phone that was not lost can reject it', async () => {
    const admin = await stage.person()
    await stage.makeAdmin(admin)
    const chief = await stage.enrolled(admin)
    await stage.setPolicy({ recovery_delay_s: 3600 })
    const user = await stage.person()
    const lost = await stage.enrolled(user)
    await stage.revokeDevices(user)
    const phone = await stage.registered(user)
    await phone.sees('Waiting for an administrator')
    await openDevices(chief)
    await chief.tap('Approve')
    await chief.page.getByRole('status').getByText('It becomes active on').waitFor()
    await phone.sees('Approved, not active yet')
    await lost.page.reload()
    await lost.tap('Sign in')
    await lost.sees('This device was removed')
    await lost.tap('Refuse')
    await lost.page.getByRole('status').getByText('Refused.').waitFor()
    await phone.sees('This device was refused')
    expect([...lost.misdeeds, ...phone.misdeeds]).toEqual([])
  })

  test('needs the operator of the service if no link can be sent', async () => {
    const admin = await stage.person()
    await stage.makeAdmin(admin)
    const chief = await stage.enrolled(admin)
    const user = await stage.person()
    // As a service without SMS answers.
    const next = `svc user enroll ${user.id} --org acme`
    await chief.page.route('**/members/*/move', (route) =>
      route.fulfill({
        status: 409,
        json: { status: 'error', message: 'No link', data: { code: 'link_not_sent', hint: next } },
      }),
    )
    await chief.page.goto(`${stage.origin}/approver#member=${user.id}`)
    await chief.sees(/^Member$/)
    await chief.tap('Send a link for a new device')
    const alert = chief.page.getByRole('alert')
    await expect(alert.getByText(`operator of the service: ${next}`).waitFor()).resolves.toBeUndefined()
  })
})

test('a first phone becomes active with a code sent by SMS', async () => {
  await stage.setPolicy({ device_proof: 'otp' })
  const user = await stage.person()
  const phone = await stage.registered(user)
  await phone.sees('Enter the code')
  expect(await flaws(phone)).toEqual([])
  await expect.poll(() => codeSentTo(user)).toBeDefined()
  const code = codeSentTo(user)!
  await phone.page.getByLabel('Code').fill(code === '000000' ? '000001' : '000000')
  await phone.tap('Confirm')
  await phone.page.getByRole('alert').getByText('or there were too many tries').waitFor()
  await phone.page.getByLabel('Code').fill(code)
  await phone.tap('Confirm')
  await stage.reachesInbox(phone)
  expect(phone.misdeeds).toEqual([])
})
