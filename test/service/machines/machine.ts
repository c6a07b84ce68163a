import { acme, service } from '../acme.ts'
import type { Answer } from '../harness.ts'

// Requests of a machine to the service.

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
