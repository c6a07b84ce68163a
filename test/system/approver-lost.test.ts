import { afterEach, describe, expect, test } from 'vitest'
import { calls, devicesOf, disturb, endSession, faults, type Fault } from './approver-faults.ts'
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
  for (let taps = 0; taps < 12; taps++) {
    const names = new RegExp(`^(?:${steps.join('|')})$`)
    const idle = page.locator('main:not([aria-busy="true"])')
    const next = idle.getByRole('button', { name: names }).and(page.locator(':not([aria-disabled])')).first()
    await inbox.or(next).first().waitFor()
    if (await inbox.isVisible()) return
    await tap((await next.textContent())!)
  }
  throw new Error('The inbox was not reached')
}

const everyFault = (names: (keyof typeof calls)[]) =>
  names.flatMap((name) => (Object.keys(faults) as Fault[]).map((fault) => [name, fault] as const))

describe('a call that goes wrong once', () => {
  test.each(everyFault(['beginEnrollment', 'registerDevice', 'listSessions']))(
    'at the registration does no harm: %s, %s',
    async (name, fault) => {
      const user = await stage.person()
      const phone = await stage.openPhone()
      await disturb(phone, calls[name], fault)
      await phone.page.goto(await stage.linkFor(user.id))
      await goesOnToInbox(phone)
      expect(await devicesOf(user)).toMatchObject([{ state: 'active' }])
      expect(phone.misdeeds).toEqual([])
    },
  )

  test.each(everyFault(['beginSession', 'openSession', 'listSessions']))(
    'at the sign-in does no harm: %s, %s',
    async (name, fault) => {
      const user = await stage.person()
      const phone = await stage.enrolled(user)
      await endSession(phone)
      await disturb(phone, calls[name], fault)
      await phone.page.reload()
      await goesOnToInbox(phone)
      expect(phone.misdeeds).toEqual([])
    },
  )
})

/** The codes that were sent to a person. */
const codesSentTo = ({ mobile }: { mobile: string }): string[] =>
  [...stage.log().matchAll(/to \+1(\d+): (\d{6}) registers/g)].flatMap(([, to, code]) =>
    to === mobile ? [code!] : [],
  )

describe('a call that goes wrong once with a code', () => {
  afterEach(() => stage.setPolicy({ device_proof: 'link' }))

  test.each(everyFault(['openSession', 'sendDeviceCode']))('does no harm: %s, %s', async (name, fault) => {
    await stage.setPolicy({ device_proof: 'otp' })
    const user = await stage.person()
    const phone = await stage.registered(user)
    await phone.sees('Enter the code')
    await disturb(phone, calls[name], fault)
    if (name === 'sendDeviceCode') {
      await phone.tap('Send a new code')
      await phone.page.getByRole('alert').getByText('Can’t reach the service').waitFor()
      await phone.tap('Send a new code')
      await phone.page.getByRole('alert').getByText('We sent a new code').waitFor()
    }
    const sent = name === 'openSession' ? 1 : fault === 'lost after' ? 3 : 2
    await expect.poll(() => codesSentTo(user)).toHaveLength(sent)
    await phone.page.getByLabel('Code').fill(codesSentTo(user).at(-1)!)
    await goesOnToInbox(phone)
    expect(await devicesOf(user)).toMatchObject([{ state: 'active' }])
  })
})
