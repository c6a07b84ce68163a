import { afterEach, beforeEach } from 'vitest'
import { createClock } from './clock.ts'
import { createTenant } from './fixtures.ts'
import type { TestService } from './harness.ts'
import { keepService } from './kept-service.ts'

// After `installHooks`, each test has new instances of these: a service, and the organization acme with a key of its own.

export let clock: ReturnType<typeof createClock>
export let service: TestService
export let acme: { id: number; key: string; keyId: string }

const start = keepService((on) => createTenant(on, 'acme'))

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(async () => {
    clock = createClock()
    ;({ service, made: acme } = await start({ now: clock.now }))
  })
  afterEach(() => service.close())
}
