import { beforeEach } from 'vitest'
import { acme, clock, installHooks as installAcme, service } from '../acme.ts'
import { createPhone, digitsOf, enrollPhone, type Phone } from '../page/phone.ts'
import { day } from '../clock.ts'
import { dataOf } from '../fixtures.ts'
import { cookieFor } from './moves.ts'

// After `installHooks`, each test has the organization of `acme.ts`. In it, Ada has lost her only device and registered
// another, and the administrator has been one for longer than the cooling period.

export let ada: Phone
export let admin: Phone
/** The device with which Ada replaces the one that she lost. */
export let replacement: Phone

export const revoke = (device: string) =>
  service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${device}`)
export const enrollAnother = () => enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
/** An operator approves the recovery. */
export const approveAsOperator = (phone = replacement, digits = digitsOf(phone).comparison_code) =>
  service.call('POST', `/svc/v1/organizations/${acme.id}/devices/${phone.device}/approve`, {
    body: { comparison_code: digits },
  })

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  installAcme()
  beforeEach(async () => {
    admin = await createPhone(service, acme.id, 9, { role: 'admin' })
    ada = await createPhone(service, acme.id, 1)
    clock.tick(2 * day)
    admin.cookie = await cookieFor(service, admin.key)
    dataOf(await revoke(ada.device))
    replacement = await enrollAnother()
  })
}
