import { beforeEach } from 'vitest'
import { createPhone, enrollPhone, type Phone } from '../approver/phone.ts'
import { createClock, day } from '../clock.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { cookieFor } from './moves.ts'

// After `installHooks`, each test has Ada, who has lost her only device and registered another, and an administrator
// who has been one for longer than the cooling period.

export let clock: ReturnType<typeof createClock>
export let service: TestService
export let acme: { id: number; key: string }
export let ada: Phone
export let admin: Phone
/** The device with which Ada replaces the one that she lost. */
export let replacement: Phone

export const revoke = (device: string) =>
  service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${device}`)
export const enrollAnother = () => enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
/** An operator approves the recovery. */
export const approveAsOperator = (device = replacement.device) =>
  service.call('POST', `/svc/v1/organizations/${acme.id}/devices/${device}/approve`, { body: {} })

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(async () => {
    clock = createClock()
    service = await startTestService({ now: clock.now })
    acme = await createTenant(service, 'acme')
    admin = await createPhone(service, acme.id, 9, { role: 'admin' })
    ada = await createPhone(service, acme.id, 1)
    clock.tick(2 * day)
    admin.cookie = await cookieFor(service, admin.key)
    dataOf(await revoke(ada.device))
    replacement = await enrollAnother()
    return () => service.close()
  })
}
