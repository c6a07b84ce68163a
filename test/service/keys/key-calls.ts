import { acme, service } from '../acme.ts'
import { dataOf } from '../fixtures.ts'

// Calls about keys, with the key of the operator unless `key` is another. For test files with the hooks of `acme.ts`.

export const create = (body: object, key?: string) =>
  service.call('POST', '/svc/v1/keys', { body: { scopes: ['all'], ...body }, key })
export const rotate = (id: number, body: object = {}, key?: string) =>
  service.call('POST', `/svc/v1/keys/${id}/rotate`, { body, key })
export const revoke = (id: number, key?: string) => service.call('DELETE', `/svc/v1/keys/${id}`, { key })
export const list = (query = '', key?: string) => service.call('GET', `/svc/v1/keys${query}`, { key })
export const works = async (key: string) =>
  (await service.call('GET', '/organizations', { key })).status === 200
/** A key of acme with these scopes. */
export const scoped = async (...scopes: string[]) =>
  dataOf(await create({ name: scopes.join(), org_id: acme.id, scopes })) as { id: number; key: string }
