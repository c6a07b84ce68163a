import { addAuthenticator, type Phone } from '../page-phone.ts'
import { happenedTimes, routeOf, within } from './play.ts'
import { scenarios } from './table.ts'
import type { Scene } from './scene.ts'

/** Ceremonies that are at an address, so that a second tab opens the same. */
export const inTwoTabs = [
  'decideApproval',
  'decideApproval, deny',
  'denyRequests',
  'unmute',
  'unmute, of a member',
  'moveDevice',
  'moveDevice, refuse',
  'moveMember',
]

/** More than the first tab ever counts. */
const ahead = 1000

/** Another tab of a phone at the same address, with the same key. A browser under test has an authenticator for each tab. */
const openTab = async (phone: Phone): Promise<Phone> => {
  const page = await phone.context.newPage()
  const { devtools, authenticatorId } = await addAuthenticator(page)
  const { credentials } = await phone.devtools.send('WebAuthn.getCredentials', {
    authenticatorId: phone.authenticatorId,
  })
  for (const credential of credentials)
    await devtools.send('WebAuthn.addCredential', {
      authenticatorId,
      credential: { ...credential, signCount: credential.signCount + ahead },
    })
  await page.goto(phone.page.url())
  return {
    ...phone,
    page,
    devtools,
    authenticatorId,
    tap: (name) => page.getByRole('button', { name, exact: true }).click(),
    sees: (name) => page.getByRole('heading', { level: 1, name }).waitFor(),
  }
}

/** Both tabs are tapped, and the call of one arrives when the other is done. It happens once, and both say so. */
export const playInTwoTabs = async (scene: Scene, name: string): Promise<void> => {
  const { network } = scene
  network.mend()
  const { method, path } = routeOf(name)
  const one = await scenarios[name]!(scene)
  const { phone } = one
  const other = await openTab(phone)
  await one.reveal?.(other)
  let release!: () => void
  const held = network.fail(method, path, new Promise((resolve) => (release = resolve)), 1)
  await one.tap(other)
  await within(held, `${name}: the call of the other tab`)
  await phone.page.bringToFront()
  await one.reveal?.()
  await one.tap()
  await within(one.done(), `${name}: the first tab`)
  await happenedTimes(one, 1, name)
  release()
  await within(one.done(other), `${name}: the other tab`)
  await happenedTimes(one, 1, name)
  if (phone.misdeeds.length > 0) throw new Error(`${name}: ${phone.misdeeds.join(', ')}`)
  // The signatures of the first tab would count backwards now.
  await scene.spoil()
}
