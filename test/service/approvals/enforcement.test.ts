import { beforeEach, describe, expect, test } from 'vitest'
import { type Approver, createApprover, decide } from '../approver.ts'
import { dataOf, refusal } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import {
  acme,
  ada,
  alan,
  clock,
  create,
  grace,
  installHooks,
  membersOf,
  service,
} from '../members/groups-stage.ts'
import { at } from '../rule-fixture.ts'

installHooks()

const day = 24 * 60 * 60_000

let admin: Approver
beforeEach(async () => {
  admin = await createApprover(service, acme.id, 5)
  dataOf(await service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id: admin.id } }))
  dataOf(await create('sre', [ada.id, grace.id]))
})

const rule = (operation: string, more = {}) => ({
  name: operation.replace(' ', '-'),
  match: { type: 'request', operation: [operation] },
  who: ['@sre'],
  ...more,
})
/** The operator adds a rule, whose first day then passes. */
const addOld = async (...of: Parameters<typeof rule>): Promise<void> => {
  dataOf(await service.call('POST', at(acme.id, 'rules'), { body: rule(...of) }))
  clock.tick(day + 1)
}

type Send = (headers?: Record<string, string>) => Promise<Answer>
const send =
  (method: string, path: string, body?: object): Send =>
  (headers = {}) =>
    service.call(method, at(acme.id, path), { key: acme.key, body, headers })
const change = (body: object): Send => send('POST', 'rule-changes', body)

/** Whom the refusal of a call says the service asked. */
const askedBy = ({ status, body }: Answer): { id: string; people: string[][] } => {
  expect([status, body.data.code]).toEqual([403, 'approval_required'])
  const { request_id: id, lines } = body.data.request
  return {
    id,
    people: lines.map(({ people }: { people: { user_id: string }[] }) => people.map((one) => one.user_id)),
  }
}

/** Sends a call, has these people approve it, and sends it again with the approval. */
const approved = async (call: Send, people: readonly Approver[]): Promise<Answer> => {
  const { id } = askedBy(await call())
  for (const { key } of people) dataOf(await decide(service, id, key))
  return call({ 'x-svc-approval': id })
}

describe('a rule that holds `rule`', () => {
  test('is changed with the yes of its people and of an administrator', async () => {
    await addOld('rule')
    const shorter = rule('rule', { use_within_s: 300 })
    dataOf(await approved(change({ rules: [shorter] }), [ada, admin]))
    expect(dataOf(await service.call('GET', at(acme.id, 'rules/rule')))).toMatchObject(shorter)
  })

  test('does not hold its own creation', async () => {
    expect(askedBy(await send('POST', 'rules', rule('rule'))()).people).toEqual([[admin.id]])
  })

  test.each([
    ['rule delete', send('DELETE', 'rules/rule')],
    ['apply', change({ removed: ['rule'] })],
  ])('is deleted by one administrator in its first day: %s', async (_, call) => {
    dataOf(await service.call('POST', at(acme.id, 'rules'), { body: rule('rule') }))
    expect(askedBy(await call()).people).toEqual([[admin.id]])
    clock.tick(day + 1)
    expect(askedBy(await call()).people).toEqual([[ada.id, grace.id], [admin.id]])
  })
})

describe('a rule that holds `group`', () => {
  beforeEach(() => addOld('group'))

  test('asks the group as it was when somebody is added to it', async () => {
    const call = send('POST', 'groups/sre/members', { user_id: alan.id })
    expect(askedBy(await call()).people).toEqual([[ada.id, grace.id], [admin.id]])
    dataOf(await approved(call, [ada, admin]))
    expect(await membersOf('sre')).toEqual([ada.id, grace.id, alan.id])
  })

  test('does not ask whoever is removed from the group', async () => {
    const call = send('DELETE', `groups/sre/members/${grace.id}`)
    expect(askedBy(await call()).people).toEqual([[ada.id], [admin.id]])
    dataOf(await approved(call, [ada, admin]))
    expect(await membersOf('sre')).toEqual([ada.id])
  })
})

const removeOrganization: Send = (headers = {}) =>
  service.call('DELETE', `/organization/${acme.id}/delete`, { key: acme.key, headers })

describe('the deletion of an organization', () => {
  test('uses the approval of everybody whom its rules ask', async () => {
    await addOld('user')
    dataOf(await approved(removeOrganization, [grace]))
    expect((await service.call('GET', `/organization/${acme.id}`)).status).toBe(404)
  })

  test('is held on the terms of a rule that holds it', async () => {
    await addOld('org', {
      requester: 'confirmed',
      reason: { prompt: 'Ticket', pattern: 'OPS-*', example: 'OPS-1' },
    })
    expect(refusal(await removeOrganization())).toEqual([422, 'invalid_field', ['reason']])
    expect(refusal(await removeOrganization({ 'x-svc-reason': 'OPS-1' }))[1]).toBe('requester_not_confirmed')
  })

  test('is held for the operator by a rule that holds it', async () => {
    await addOld('org delete', { number: true })
    const { people } = askedBy(await service.call('DELETE', `/organization/${acme.id}/delete`))
    expect(people).toEqual([[ada.id, grace.id]])
  })
})

test('nobody is asked about the end of their own membership', async () => {
  await addOld('user delete')
  const path = `/organization/${acme.id}/delete/user/${grace.id}`
  expect(askedBy(await service.call('DELETE', path, { key: acme.key })).people).toEqual([[ada.id]])
})
