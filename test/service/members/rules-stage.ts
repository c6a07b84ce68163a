import { beforeEach, expect } from 'vitest'
import { type Approver, enroll } from '../approver.ts'
import { createMember, dataOf } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { at } from '../rule-fixture.ts'
import { acme, ada, alan, create, grace, installHooks as installGroups, service } from './groups-stage.ts'

export let eve: Pick<Approver, 'id' | 'key'>
export let rules: string
/** As in `groups-stage.ts`, with two groups, an administrator, and a key that may change rules. */
export const installHooks = (): void => {
  installGroups()
  beforeEach(async () => {
    const { id } = await createMember(service, acme.id, 5)
    dataOf(await service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id: id } }))
    eve = { id, ...(await enroll(service, acme.id, id)) }
    const body = { name: 'rules', org_id: acme.id, scopes: ['rules', 'read', 'ask'] }
    rules = dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
    dataOf(await create('sre', [ada.id, grace.id]))
    dataOf(await create('dba', [grace.id, alan.id]))
  })
}

type Sent = { key?: string; approval?: string | undefined }
export const headersOf = (approval: string | undefined) =>
  approval === undefined ? {} : { 'x-svc-approval': approval }

export const destroy = {
  name: 'destroy',
  match: { type: 'command', argv: ['terraform', '**', 'destroy', '**'] },
  who: ['@sre'],
}
export const add = (rule: object, { key, approval }: Sent = {}): Promise<Answer> =>
  service.call('POST', at(acme.id, 'rules'), { key, body: rule, headers: headersOf(approval) })
export const dropRule = (name: string, { key, approval }: Sent = {}): Promise<Answer> =>
  service.call('DELETE', at(acme.id, `rules/${name}`), { key, headers: headersOf(approval) })
export const set = (changes: object, { key, approval }: Sent = {}): Promise<Answer> =>
  service.call('POST', at(acme.id, 'rule-changes'), { key, body: changes, headers: headersOf(approval) })
export const show = (name = 'destroy') => service.call('GET', at(acme.id, `rules/${name}`))
export const list = async () => dataOf(await service.call('GET', at(acme.id, 'rules')))

/** The request that a refusal names, and whom it asks. */
export const heldBy = ({ status, body }: Answer): { id: string; people: string[][] } => {
  expect([status, body.data.code]).toEqual([403, 'approval_required'])
  const { request_id, lines } = body.data.request
  return {
    id: request_id,
    people: lines.map(({ people }: { people: { user_id: string }[] }) => people.map((one) => one.user_id)),
  }
}
