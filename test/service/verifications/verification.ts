import { acme, ada, service } from '../acme-with-ada.ts'
import { decide } from '../approver.ts'
import { dataOf, fence } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

export type More = { key?: string; headers?: Record<string, string>; from?: string }
export const post = (path: string, body: object, more: More = {}): Promise<Answer> =>
  service.call('POST', path, { key: acme.key, body, ...more })
const parts = { country_code: '+1', mobile: '2025550101' }
export const verify = (more: object = {}, with_: More = {}) =>
  post('/verify-user', { ...parts, ...more }, with_)
export const validate = (more: object = {}, with_: More = {}) =>
  post('/validate/global/auth', { mobile: ada.mobile, ...more }, with_)
export const started = async (): Promise<string> => dataOf(await verify()).request_id
export const token = (body: object = { user_id: ada.id }, with_: More = {}) =>
  post('/generate-auth-token', body, with_)
export const save = (auth_token: string, more: More & { method?: string } = {}) =>
  service.call(more.method ?? 'GET', `/save/faceauth/success/${auth_token}`, { key: acme.key, ...more })
export const approve = (id: string) => decide(service, id, ada.key)
export const approveAt = (latitude: number) => ({
  decision: 'approve' as const,
  location: { latitude, longitude: fence.longitude, accuracy_m: 5, age_ms: 0 },
})
export const deny = (id: string) => decide(service, id, ada.key, { decision: 'deny' })
export const policy = async (fields: object) =>
  dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy: fields } }))
export type Row = { factor: string; policy: string | null; result: string; source: string; reason: string }
export const brief = (rows: Row[]) =>
  rows.map(({ factor, policy, result, source }) => [factor, policy, result, source])
