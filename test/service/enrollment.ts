import { afterEach, beforeEach } from 'vitest'
import { createClock } from './clock.ts'
import { createMember, createTenant } from './fixtures.ts'
import { startTestService, type Answer, type TestService } from './harness.ts'

// After `installHooks`, each test has new instances of these: a service with `--dev`, acme, and Ada, who has no device yet.

export let clock: ReturnType<typeof createClock>
export let service: TestService
export let acme: { id: number; key: string }
export let ada: { id: string; mobile: string }
export const open = async (options: { dev?: boolean; publicUrl?: string } = {}): Promise<void> => {
  clock = createClock()
  service = await startTestService({ dev: true, now: clock.now, ...options })
  acme = await createTenant(service, 'acme')
  const { id, mobile_e164 } = await createMember(service, acme.id, 1)
  ada = { id, mobile: mobile_e164 }
}

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(() => open())
  afterEach(() => service.close())
}

export const start = (user = ada.id, key = acme.key): Promise<Answer> =>
  service.call('POST', `/svc/v1/organizations/${acme.id}/users/${user}/enrollments`, { key, body: {} })
export const revoke = (device: string): Promise<Answer> =>
  service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${device}`)
