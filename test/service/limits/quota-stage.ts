import { acme, service } from '../acme-with-ada.ts'
import { dataOf, fence } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

// The limits of an organization, as its key and the operator see them.

export const path = (org = acme.id): string => `/svc/v1/organizations/${org}/limits`
export const set = (body: object, key?: string): Promise<Answer> =>
  service.call('POST', path(), { body, key })
export const shown = async (): Promise<Record<string, { limit: unknown; used: number | null }>> =>
  Object.fromEntries(
    dataOf(await service.call('GET', path(), { key: acme.key })).map((row: { name: string }) => [
      row.name,
      row,
    ]),
  )
export const usedOf = async (name: string): Promise<number | null> => (await shown())[name]!.used

/** `[status, code, quota, limit]` */
export const refused = ({ status, body: { data } }: Answer) => [status, data.code, data.quota, data.limit]

export const geofence = (): Promise<Answer> =>
  service.call('POST', `/organization/${acme.id}/create/geo-fence`, { key: acme.key, body: fence })
