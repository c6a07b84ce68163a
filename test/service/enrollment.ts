import { afterEach, beforeEach } from 'vitest'
import { createClock } from './clock.ts'
import { createMember, createTenant } from './fixtures.ts'
import type { Answer, TestService } from './harness.ts'
import { keepService } from './kept-service.ts'

// After `installHooks`, each test has new instances of these: a service with `--dev`, acme, and Ada, who has no device yet.

export let clock: ReturnType<typeof createClock>
export let service: TestService
export let acme: { id: number; key: string }
export let ada: { id: string; mobile: string }
const startFilled = keepService(async (on) => {
  const tenant = await createTenant(on, 'acme')
  const { id, mobile_e164 } = await createMember(on, tenant.id, 1)
  return { acme: tenant, ada: { id, mobile: mobile_e164 } }
})

export const open = async (options: { dev?: boolean; publicUrl?: string } = {}): Promise<void> => {
  clock = createClock()
  const started = await startFilled({ dev: true, now: clock.now, ...options })
  service = started.service
  ;({ acme, ada } = started.made)
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
