import { beforeEach } from 'vitest'
import { acme, installHooks as installService, service } from '../acme-with-ada.ts'
import { type Approver, createApprover, decide, show } from '../approver.ts'
import { dataOf } from '../fixtures.ts'

// Three people with devices, and a key that may ask them.

export { acme, ada, clock, service } from '../acme-with-ada.ts'

export let grace: Approver
export let alan: Approver
export let asks: string

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (): void => {
  installService()
  beforeEach(async () => {
    grace = await createApprover(service, acme.id, 2)
    alan = await createApprover(service, acme.id, 3)
    const body = { name: 'ci', org_id: acme.id, scopes: ['ask'] }
    asks = dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
  })
}

export const request = (approvers: string[], more: object = {}) =>
  service.call('POST', '/svc/v1/approvals', { key: asks, body: { action: 'Deploy 4.2', approvers, ...more } })
export const requested = async (...approvers: string[]): Promise<string> =>
  dataOf(await request(approvers)).request_id
export const group = (name: string, ...members: Approver[]) =>
  service
    .call('POST', `/svc/v1/organizations/${acme.id}/groups`, {
      body: { name, members: members.map(({ id }) => id) },
    })
    .then(dataOf)
export const approve = ({ key }: Approver, id: string) => decide(service, id, key)
export const stateOf = async (id: string) => dataOf(await show(service, id, asks))
