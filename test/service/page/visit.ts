import { afterEach, beforeEach } from 'vitest'
import { createClock } from '../clock.ts'
import { cookieFor, moveDevice } from '../devices/moves.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { createPhone, enrollPhone, fromPhone, type Phone } from './phone.ts'

// Whoever calls `installHooks` has these anew for each test: a service, the organization acme, and the phone of Ada at the page.

export let clock: ReturnType<typeof createClock>
export let service: TestService
export let acme: { id: number; key: string }
export let ada: Phone

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(async () => {
    clock = createClock()
    service = await startTestService({ now: clock.now })
    acme = await createTenant(service, 'acme')
    ada = await createPhone(service, acme.id, 1)
  })
  afterEach(() => service.close())
}

export const openSession = (challenge: string, response: unknown) =>
  fromPhone(service, 'POST', 'session', { body: { challenge, response } })

/** A second device of Ada, approved with the first one and signed in. */
export const addTablet = async (): Promise<Phone> => {
  const tablet = await enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
  dataOf(await moveDevice(service, ada, tablet.device))
  return { ...tablet, cookie: await cookieFor(service, tablet.key) }
}
