import { afterEach, beforeEach } from 'vitest'
import { createClock } from '../clock.ts'
import { dataOf } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { codeFor, confirm, send } from '../mobile-user.ts'

// After `installHooks`, each test has a new service, which knows nobody.

export let clock: ReturnType<typeof createClock>
export let service: TestService

/** Ada's number, and another. */
export const mobile = '+12025550101'
export const otherNumber = { mobile: '2025550102', mobile_e164: '+12025550102' }
export const mallory = { first_name: 'Mallory', email: 'mallory@evil.example', imei: '352099001761481' }

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(async () => {
    clock = createClock()
    service = await startTestService({ now: clock.now })
  })
  afterEach(() => service.close())
}

/** The account of Ada's number. */
export const account = async (key?: string) =>
  dataOf(await service.call('POST', '/getuser', { key, body: { mobile } })).account

export const sendAndConfirm = async (by: { key?: string; registration_token?: string } = {}) => {
  dataOf(await send(service, mobile, by))
  return confirm(service, mobile, await codeFor(service, mobile), by)
}
