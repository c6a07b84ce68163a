import { afterEach, beforeEach } from 'vitest'
import { createPhone, type Phone } from '../page/phone.ts'
import { createClock } from '../clock.ts'
import { createTenant } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { agentKeys, authorize, createVerifier, registered, requestIn } from './oauth-client.ts'

// A service with tools, an organization, and the phone of a person who can connect agents.

export let service: TestService
export let clock: ReturnType<typeof createClock>
export let acme: { id: number; key: string }
export let ada: Phone

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (): void => {
  beforeEach(async () => {
    clock = createClock()
    service = await startTestService({ now: clock.now, dev: true })
    acme = await createTenant(service, 'acme')
    ada = await createPhone(service, acme.id, 1)
  })
  afterEach(() => service.close())
}

export const agentsOf = () => agentKeys(service, acme.key)

/** The sealed request of a new client. */
export const prepare = async () => {
  const { code_challenge } = createVerifier()
  return requestIn(await authorize(service, { client_id: await registered(service), code_challenge }))
}
