import { afterEach, beforeEach } from 'vitest'
import { createApprover, type Approver } from './approver.ts'
import { createClock } from './clock.ts'
import { createTenant } from './fixtures.ts'
import { startTestService, type TestService } from './harness.ts'

// After `installHooks`, each test has new instances of these: a service with `--dev`, the organization acme, and Ada, its approver.

export let clock: ReturnType<typeof createClock>
export let service: TestService
export let acme: { id: number; key: string; keyId: string }
export let ada: Approver

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(async () => {
    clock = createClock()
    service = await startTestService({ dev: true, now: clock.now })
    acme = await createTenant(service, 'acme')
    ada = await createApprover(service, acme.id, 1)
  })
  afterEach(() => service.close())
}
