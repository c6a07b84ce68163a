import { afterEach, beforeEach } from 'vitest'
import { watchWebhooks } from '../../../src/service/events/webhook-feed.ts'
import { createClock } from '../clock.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { startReceiver } from './receiver.ts'

// After `installHooks`, each test has a service of its own that sends events, and a receiver on this machine.

export let clock: ReturnType<typeof createClock>
export let service: TestService
export let acme: { id: number; key: string; keyId: string }
export let receiver: Awaited<ReturnType<typeof startReceiver>>
let stop: () => Promise<void>

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(async () => {
    clock = createClock()
    receiver = await startReceiver()
    service = await startTestService({ now: clock.now, dev: true })
    acme = await createTenant(service, 'acme')
    stop = watchWebhooks(service.service, () => undefined)
  })
  afterEach(async () => {
    await stop()
    await service.close()
    await receiver.close()
  })
}

export const call = async (method: string, path: string, body?: object) =>
  dataOf(await service.call(method, `/svc/v1/webhooks${path}`, { body }))

/** A webhook of acme at the receiver. */
export const createWebhook = (more: object = {}) =>
  call('POST', '', { org_id: acme.id, url: receiver.url, ...more })

export const show = async (id: string) =>
  ((await call('GET', '')) as { webhook_id: string }[]).find((one) => one.webhook_id === id)
