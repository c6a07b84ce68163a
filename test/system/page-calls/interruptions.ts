import type { Phone } from '../page-phone.ts'
import { happenedTimes, routeOf, within } from './play.ts'
import { scenarios } from './table.ts'
import type { Play, Scene } from './scene.ts'

// A ceremony that ends differently: the person leaves while the phone asks for their face, or somebody ends it for them.

/** Those that ask for a device check, with the interruptions that can happen to them. */
export const ceremonies: Record<string, readonly Interruption[]> = {
  registerDevice: ['Back', 'reload'],
  openSession: ['Back', 'reload', 'device removed'],
  'openSession, with a code': ['Back', 'reload', 'device removed'],
  sendDeviceCode: ['Back', 'reload'],
  refuseNewDevice: ['Back', 'reload'],
  ...Object.fromEntries(
    [
      'decideApproval',
      'decideApproval, deny',
      'decideApproval, note',
      'decideApproval, report',
      'denyRequests',
      'unmute, at the result',
      'unmute',
      'giveConsent',
      'unmute, of a member',
      'moveDevice',
      'moveDevice, refuse',
      'moveDevice, remove',
      'moveDevice, recovery',
      'createDeviceLink',
      'moveMember',
      'moveMember, reject',
      'moveMember, hold',
      'moveMember, promote',
      'moveMember, link',
    ].map((name) => [name, ['Back', 'reload', 'session ended', 'device removed']] as const),
  ),
}

export type Interruption = 'Back' | 'reload' | 'session ended' | 'device removed'

const setFinger = ({ devtools, authenticatorId }: Phone, enabled: boolean): Promise<unknown> =>
  devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })

const sheets = async ({ page }: Phone, count: 0 | 1, when: string): Promise<void> => {
  const look = async (): Promise<void> => {
    // A page that is just starting cannot be asked.
    const open = await page.evaluate('globalThis.openSheets ?? 0').catch(() => undefined)
    if (open === count) return
    await page.waitForTimeout(20)
    await look()
  }
  await within(look(), `${when}: ${count} device checks`)
}

const endSession = ({ page }: Phone): Promise<unknown> =>
  page.evaluate(`fetch('/svc/v1/approver/session', { method: 'DELETE' })`)

const signIn = async (phone: Phone): Promise<void> => {
  await phone.sees('Sign in')
  await phone.tap('Sign in')
}

/** Leaves while the device check is open. Whatever was tapped has not happened, and nothing stays open or busy. */
const leave = async (one: Play, how: 'Back' | 'reload' | 'session ended', name: string): Promise<void> => {
  const { phone } = one
  const { page } = phone
  await setFinger(phone, false)
  await one.tap()
  await sheets(phone, 1, name)
  if (how === 'Back') await page.goBack()
  else if (how === 'reload') await page.reload()
  else {
    await endSession(phone)
    await phone.sees('Sign in')
  }
  await sheets(phone, 0, name)
  await within(page.locator('main[data-busy]').waitFor({ state: 'detached' }), `${name}: idle`)
  await setFinger(phone, true)
  await happenedTimes(one, 0, name)
  if (how === 'Back') await page.goForward()
  if (how === 'session ended') await signIn(phone)
}

/** Ends the session, or removes the device, while what it signed is on its way. */
const endOnTheWay = async (
  scene: Scene,
  one: Play,
  name: string,
  end: () => Promise<unknown>,
): Promise<void> => {
  const { phone } = one
  const { method, path } = routeOf(name)
  let release!: () => void
  const held = scene.network.fail(method, path, new Promise((resolve) => (release = resolve)), 1)
  await one.tap()
  await within(held, `${name}: the call`)
  await end()
  release()
  await phone.sees(/^Sign in$|^This device was removed$/)
  await happenedTimes(one, 0, name)
}

/** Interrupts a ceremony, and then holds it to its end in the way that the page offers. */
export const interrupt = async (scene: Scene, name: string, how: Interruption): Promise<void> => {
  scene.network.mend()
  const one = await scenarios[name]!(scene)
  await one.reveal?.()
  if (how === 'device removed') {
    const owner = one.owner ?? scene.owner()
    const states = one.isPending ? ['pending'] : ['active']
    await endOnTheWay(scene, one, name, () => scene.stage.revokeDevices(owner, states))
    return scene.spoil()
  }
  if (how === 'session ended' && one.isUnwatched) {
    await endOnTheWay(scene, one, name, () => endSession(one.phone))
    await signIn(one.phone)
  } else await leave(one, how, `${name}, ${how}`)
  await one.reveal?.()
  await one.tap()
  await within(one.done(), `${name}, ${how}: the end`)
  await happenedTimes(one, 1, `${name}, ${how}`)
  const { misdeeds } = one.phone
  if (misdeeds.length > 0) throw new Error(`${name}, ${how}: ${misdeeds.join(', ')}`)
}
