import { beforeEach } from 'vitest'
import { acme, ada, installHooks as installService, service } from '../acme-with-ada.ts'
import { createApprover, decide } from '../approver.ts'
import { dataOf, fence } from '../fixtures.ts'
import { at, holdCalls } from '../rule-fixture.ts'

// Lists of changes to Acme, where a rule holds users, geofences and time slots, and asks Ada.

export type Row = { operation: string; input: Record<string, unknown>; mobile?: string }

export let people: string
export let eve: string
export let site: number
/** Whom the rule asks. */
export let group: string

export const keyWith = async (scopes: string[]) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name: scopes[0], org_id: acme.id, scopes } }))
    .key

export const installHooks = (): void => {
  installService()
  beforeEach(async () => {
    people = await keyWith(['people', 'rules', 'read'])
    eve = (await createApprover(service, acme.id, 60)).id
    site = dataOf(
      await service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
        body: { ...fence, is_active: 0 },
      }),
    ).id
    ;({ group } = await holdCalls(service, acme.id, ['user', 'geofence', 'timeslot'], [ada.id]))
  })
}

export const user = (n: number, more: object = {}): Row => ({
  operation: 'createUser',
  input: {
    orgId: acme.id,
    email: `new${n}@acme.example`,
    country_code: '+1',
    mobile: String(2025550300 + n),
    first_name: 'New',
    last_name: `Number${n}`,
    ...more,
  },
})

export const ask = (rows: Row[], more: object = {}, key = people) =>
  service.call('POST', at(acme.id, 'batches'), { body: { rows, ...more }, key })

export const create = ({ input }: Row, approval: string | undefined, key = people) => {
  const { orgId: _, ...body } = input
  const headers = approval === undefined ? {} : { 'x-svc-approval': approval }
  return service.call('POST', `/organization/${acme.id}/create/user`, { body, key, headers })
}

export const approved = async (rows: Row[], more: object = {}): Promise<string> => {
  const { request_id } = dataOf(await ask(rows, more))
  dataOf(await decide(service, request_id, ada.key))
  return request_id
}
