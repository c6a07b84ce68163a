import { afterEach, beforeEach } from 'vitest'
import { createClock } from '../clock.ts'
import { createTenant } from '../fixtures.ts'
import { startTestService, type Answer, type TestService } from '../harness.ts'

// Whoever imports these has them anew for each test: a service, the organization acme, and how a machine talks to it.

export let clock: ReturnType<typeof createClock>
export let service: TestService
export let acme: { id: number; key: string }
beforeEach(async () => {
  clock = createClock()
  service = await startTestService({ now: clock.now })
  acme = await createTenant(service, 'acme')
})
afterEach(() => service.close())

export const values = {
  machineId: 'press-01',
  stockName: 'AAPL',
  totalPrice: '12,500.00',
  currentStockPrice: '250.4',
}
export const machine = { ...values, machineName: 'Press 1', mobile: '+12025550101' }
export const post = (path: string, body: object | string, key = acme.key): Promise<Answer> =>
  service.call('POST', path, { key, body })
export const register = (more: object = {}, key?: string) =>
  post('/dynamic_auth/register', { ...machine, ...more }, key)
export const verify = (machine_id: string, more: object = {}, key?: string) =>
  post('/dynamic_auth/verify', { machine_id, ...more }, key)
