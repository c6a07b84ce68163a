import { afterEach, beforeEach } from 'vitest'
import { createApprover, type Approver } from './approver.ts'
import { createClock } from './clock.ts'
import { createTenant } from './fixtures.ts'
import type { TestService } from './harness.ts'
import { keepService } from './kept-service.ts'

// After `installHooks`, each test has new instances of these: a service with `--dev`, the organization acme, and Ada, its approver.

export let clock: ReturnType<typeof createClock>
export let service: TestService
export let acme: { id: number; key: string; keyId: string }
export let ada: Approver

const start = keepService(async (on) => {
  const tenant = await createTenant(on, 'acme')
  return { acme: tenant, ada: await createApprover(on, tenant.id, 1) }
})

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(async () => {
    clock = createClock()
    const started = await start({ dev: true, now: clock.now })
    service = started.service
    ;({ acme, ada } = started.made)
  })
  afterEach(() => service.close())
}
