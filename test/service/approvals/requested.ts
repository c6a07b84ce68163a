import { acme, ada, service } from '../acme-with-ada.ts'
import { ask, show } from '../approver.ts'
import { dataOf } from '../fixtures.ts'

// What is asked of Ada, as those see it who ask.

export const list = async (query = '', key?: string) =>
  dataOf(await service.call('GET', `/svc/v1/approvals${query}`, { key }))
export const withdraw = (id: string, key?: string) =>
  service.call('POST', `/svc/v1/approvals/${id}/withdraw`, { key, body: {} })
export const newRequest = async (more: object = {}, key = acme.key): Promise<string> =>
  dataOf(await ask(service, ada, more, key)).request_id
export const statusOf = async (id: string): Promise<[string, string | null]> => {
  const { status, detail } = dataOf(await show(service, id))
  return [status, detail]
}
