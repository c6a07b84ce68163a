import { afterEach, beforeEach } from 'vitest'
import { createClock } from './clock.ts'
import { createTenant } from './fixtures.ts'
import { startTestService, type TestService } from './harness.ts'

// After `installHooks`, each test has new instances of these: a service, and the organization acme with a key of its own.

export let clock: ReturnType<typeof createClock>
export let service: TestService
export let acme: { id: number; key: string; keyId: string }

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(async () => {
    clock = createClock()
    service = await startTestService({ now: clock.now })
    acme = await createTenant(service, 'acme')
  })
  afterEach(() => service.close())
}
