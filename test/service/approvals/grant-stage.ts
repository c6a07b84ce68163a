import { beforeEach } from 'vitest'
import { acme, ada, installHooks as installService, service } from '../acme-with-ada.ts'
import { type Approver, createApprover, decide } from '../approver.ts'
import { dataOf } from '../fixtures.ts'
import { at, createRule } from '../rule-fixture.ts'
import { command } from './command-subject.ts'

// What the key of an agent is granted.

export let grace: Approver
export let asker: { id: string; key: string }
export let rule: string
export let group: string

export const createKey = async (name: string) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name, org_id: acme.id, scopes: ['ask'] } }))

const ask = (more: object = {}, key = asker.key) =>
  service.call('POST', '/svc/v1/approvals', {
    key,
    body: { subject: command('kubectl', 'delete', 'pod', 'web-1'), ...more },
  })
export const asked = async (more: object = {}, key?: string) => dataOf(await ask(more, key))
export const pod = (name: string) => ({ subject: command('kubectl', 'delete', 'pod', name) })
export const granted = async (more: object = {}) => {
  const { request_id } = await asked(more)
  return dataOf(await decide(service, request_id, ada.key, { decision: 'approve', grant: true }))
}
export const consume = ({ request_id, subject }: { request_id: string; subject: { digest: string } }) =>
  service.call('POST', `/svc/v1/approvals/${request_id}/consume`, {
    key: asker.key,
    body: { digest: subject.digest },
  })
export const grants = async (key?: string) =>
  dataOf(await service.call('GET', at(acme.id, 'grants'), { key }))

/** A rule of two people lets each of them grant two uses for ten minutes. */
export const installHooks = (): void => {
  installService()
  beforeEach(async () => {
    grace = await createApprover(service, acme.id, 2)
    asker = await createKey('agent')
    ;({ rule, group } = await createRule(service, acme.id, {
      members: [ada.id, grace.id],
      match: { type: 'command', argv: ['kubectl', 'delete', 'pod', '*'] },
      grant: { max_s: 600, uses: 2 },
    }))
  })
}
