import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect } from 'vitest'
import { watchWebhooks } from '../../../src/service/events/webhook-feed.ts'
import { createClock } from '../clock.ts'
import { createTenant, dataOf, fence } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { startReceiver, type Received } from './receiver.ts'

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

export const addFence = async (org = acme.id): Promise<void> => {
  dataOf(await service.call('POST', `/organization/${org}/create/geo-fence`, { body: fence }))
}

export const idOf = ({ body }: Received): string => (JSON.parse(body) as { id: string }).id

/** The time stamp of the service is that of its clock, and the verifier reads the real one. */
export const verify = (secret: string, { headers, body }: Received): unknown => {
  const signed = Number(headers['webhook-timestamp'])
  expect(signed).toBe(Math.floor(Date.parse(clock.iso()) / 1000))
  const real = Date.now
  Date.now = () => signed * 1000
  try {
    return new Webhook(secret).verify(body, headers)
  } finally {
    Date.now = real
  }
}
