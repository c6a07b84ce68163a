import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { calls, devicesOf, disturb, endSession, everyFault } from './approver-faults.ts'
import type { Phone } from './approver-phone.ts'
import { installHooks, stage } from './open-stage.ts'

installHooks()

/** Does the next step of the screen until the inbox is there. The person only reads and taps what is offered. */
const steps = [
  'Try again',
  'Confirm',
  'Register this device',
  'Sign in',
  'Open your requests',
  'Continue',
  'Not now',
]
const goesOnToInbox = async ({ page, tap }: Phone): Promise<void> => {
  const inbox = page.getByRole('heading', { level: 1, name: 'all caught up' })
  for (let taps = 0; taps < 16; taps++) {
    const names = new RegExp(`^(?:${steps.join('|')})$`)
    const idle = page.locator('main:not([aria-busy="true"])')
    const next = idle.getByRole('button', { name: names }).and(page.locator(':not([aria-disabled])')).first()
    await inbox.or(next).first().waitFor()
    if (await inbox.isVisible()) return
    await tap((await next.textContent())!)
  }
  throw new Error('The inbox was not reached')
}

/** The codes that were sent to a person. */
const codesSentTo = ({ mobile }: { mobile: string }): string[] =>
  [...stage.log().matchAll(/to \+1(\d+): (\d{6}) registers/g)].flatMap(([, to, code]) =>
    to === mobile ? [code!] : [],
  )

// Each call fails in every way, one after the other; then it works.

describe('a call that fails before and after the service has committed does no harm', () => {
  test.each(['beginEnrollment', 'registerDevice', 'listSessions'] as const)(
    'at the registration: %s',
    async (name) => {
      const user = await stage.person()
      const phone = await stage.openPhone()
      await disturb(phone, calls[name], ...everyFault)
      await phone.page.goto(await stage.linkFor(user.id))
      await goesOnToInbox(phone)
      expect(await devicesOf(user)).toMatchObject([{ state: 'active' }])
      expect(phone.misdeeds).toEqual([])
    },
  )

  test.each(['beginSession', 'openSession', 'listSessions'] as const)('at the sign-in: %s', async (name) => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await endSession(phone)
    await disturb(phone, calls[name], ...everyFault)
    await phone.page.reload()
    await goesOnToInbox(phone)
    expect(phone.misdeeds).toEqual([])
  })
})

describe('with a code by SMS, a call that fails does no harm', () => {
  beforeEach(() => stage.setPolicy({ device_proof: 'otp' }))
  afterEach(() => stage.setPolicy({ device_proof: 'link' }))

  test('openSession', async () => {
    const user = await stage.person()
    const phone = await stage.registered(user)
    await phone.sees('Enter the code')
    await disturb(phone, calls.openSession, ...everyFault)
    await expect.poll(() => codesSentTo(user)).toHaveLength(1)
    await phone.page.getByLabel('Code').fill(codesSentTo(user)[0]!)
    await goesOnToInbox(phone)
    expect(await devicesOf(user)).toMatchObject([{ state: 'active' }])
  })

  test('sendDeviceCode', async () => {
    const user = await stage.person()
    const phone = await stage.registered(user)
    await phone.sees('Enter the code')
    await disturb(phone, calls.sendDeviceCode, ...everyFault)
    const alert = phone.page.getByRole('alert')
    for (const _ of everyFault) {
      await phone.tap('Send a new code')
      await alert.getByText('Can’t reach the service').waitFor()
    }
    await phone.tap('Send a new code')
    await alert.getByText('We sent a new code').waitFor()
    // The first, the one whose answer was lost, and this one.
    await expect.poll(() => codesSentTo(user)).toHaveLength(3)
    await phone.page.getByLabel('Code').fill(codesSentTo(user).at(-1)!)
    await goesOnToInbox(phone)
    expect(await devicesOf(user)).toMatchObject([{ state: 'active' }])
  })
})
