import { acme, ada, service } from '../acme-with-ada.ts'
import { ask, post, show } from '../approver.ts'
import { dataOf, refusedWithoutTrace } from '../fixtures.ts'

// What Ada is asked with the key of acme, and what becomes of it.

export const newRequest = async (more: object = {}) => dataOf(await ask(service, ada, more, acme.key))
export const shown = async (id: string) => dataOf(await show(service, id, acme.key))

export const jwks = async () => (await service.call('GET', '/.well-known/jwks.json', { key: null })).body

export const refusedOutright = (id: string, body: object) =>
  refusedWithoutTrace(service, () => post(service, id, body))
