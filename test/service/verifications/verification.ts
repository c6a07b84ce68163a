import { acme, ada, clock, service } from '../acme-with-ada.ts'
import { decide } from '../approver.ts'
import { dataOf, fence } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

export type More = { key?: string; headers?: Record<string, string>; from?: string }
export const post = (path: string, body: object, more: More = {}): Promise<Answer> =>
  service.call('POST', path, { key: acme.key, body, ...more })
const parts = { country_code: '+1', mobile: '2025550101' }
export const verify = (more: object = {}, options: More = {}) =>
  post('/verify-user', { ...parts, ...more }, options)
export const validate = (more: object = {}, options: More = {}) =>
  post('/validate/global/auth', { mobile: ada.mobile, ...more }, options)
export const started = async (): Promise<string> => dataOf(await verify()).request_id
export const token = (body: object = { user_id: ada.id }, options: More = {}) =>
  post('/generate-auth-token', body, options)
export const save = (auth_token: string, more: More & { method?: string } = {}) =>
  service.call(more.method ?? 'GET', `/save/faceauth/success/${auth_token}`, { key: acme.key, ...more })
/** Results of an app: a PASS on Ada's device, unless `more` says otherwise. */
export const results = (more: object = {}, options: More = {}) =>
  post(
    '/biometric-geo-fence-auth-results',
    {
      user_id: String(ada.id),
      biometric_result: 'PASS',
      geo_fence_result: 'PASS',
      device_info: { device_id: String(ada.device), platform: 'ios' },
      timestamp: clock.iso(),
      ...more,
    },
    options,
  )
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
