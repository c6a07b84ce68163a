import { afterEach, beforeEach } from 'vitest'
import { ask } from '../approver.ts'
import { createClock } from '../clock.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { createPhone, fromPhone, type Phone } from './phone.ts'
import { type PushService, startPushService, subscribeBrowser } from './push-service.ts'

// After `installHooks`, each test has a service, a push service on this machine, and the phone of Ada at the page.

export let service: TestService
export let pushService: PushService
export let acme: { id: number; key: string }
export let ada: Phone

export const open = async (dev: boolean): Promise<void> => {
  service = await startTestService({ now: createClock().now, dev })
  acme = await createTenant(service, 'acme')
  ada = await createPhone(service, acme.id, 1)
}

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(async () => {
    pushService = await startPushService()
    await open(true)
  })
  afterEach(async () => {
    await service.close()
    await pushService.close()
  })
}

type Subscription = ReturnType<typeof subscribeBrowser>['subscription']
export const subscribe = ({ endpoint, keys }: Subscription, phone = ada) =>
  fromPhone(service, 'POST', 'push', { cookie: phone.cookie, body: { endpoint, keys } })
export const subscribed = async (phone = ada): Promise<boolean> =>
  dataOf(await fromPhone(service, 'GET', 'session', { cookie: phone.cookie })).subscribed
export const here = (path = '/p/1'): ReturnType<typeof subscribeBrowser> =>
  subscribeBrowser(`${pushService.origin}${path}`)
export const ring = async (more: object = {}): Promise<string> => {
  const { request_id } = dataOf(await ask(service, ada, more, acme.key))
  await service.delivered()
  return request_id
}
