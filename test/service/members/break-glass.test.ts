import { beforeEach, describe, expect, test } from 'vitest'
import { type Approver, createApprover, enroll } from '../approver.ts'
import { createMember, dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { at } from '../rule-fixture.ts'
import { acme, ada, alan, create, drop, grace, installHooks, service } from './groups-stage.ts'

installHooks()

let eve: string
let mallory: Approver
let rules: string
beforeEach(async () => {
  eve = (await createMember(service, acme.id, 5)).id
  dataOf(await service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id: eve } }))
  await enroll(service, acme.id, eve)
  mallory = await createApprover(service, acme.id, 6)
  const body = { name: 'rules', org_id: acme.id, scopes: ['rules', 'read', 'ask'] }
  rules = dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
  dataOf(await create('sre', [ada.id, grace.id]))
  dataOf(await create('oncall', [alan.id]))
})

const plain = { name: 'destroy', match: { type: 'command', argv: ['terraform', '**'] }, who: ['@sre'] }
const destroy = { ...plain, break_glass: '@oncall' }

const add = (rule: object): Promise<Answer> => service.call('POST', at(acme.id, 'rules'), { body: rule })
const set = (rule: object): Promise<Answer> =>
  service.call('POST', at(acme.id, 'rule-changes'), { key: rules, body: { rules: [rule] } })

/** Who must approve, line by line. */
const askedBy = ({ status, body }: Answer): string[][] => {
  expect([status, body.data.code]).toEqual([403, 'approval_required'])
  return body.data.request.lines.map(({ people }: { people: { user_id: string }[] }) =>
    people.map(({ user_id }) => user_id),
  )
}

describe('the emergency group of a rule', () => {
  test('is part of the rule and of its digest', async () => {
    const { digest } = dataOf(await add(plain))
    dataOf(await service.call('DELETE', at(acme.id, 'rules/destroy')))
    const made = dataOf(await add(destroy))
    expect(made.break_glass).toBe('@oncall')
    expect(made.digest).not.toBe(digest)
  })

  test.each([
    ['several members', { break_glass: '@oncall:2' }],
    ['a number', { break_glass: '+12025550101' }],
    ['a group that does not exist', { break_glass: '@nobody' }],
    ['calls of svc', { break_glass: '@oncall', match: { type: 'request', operation: ['user'] } }],
  ])('is refused: %s', async (_, fields) => {
    const answer = () => add({ ...plain, ...fields })
    expect(await refusedWithoutTrace(service, answer)).toEqual([422, 'invalid_field', ['break_glass']])
  })

  test('has somebody with a device', async () => {
    dataOf(await service.call('DELETE', at(acme.id, `devices/${alan.device}`)))
    expect(refusal(await add(destroy))).toEqual([409, 'rule_not_completable', []])
  })

  test('is added with a yes of everybody whom the rule asks', async () => {
    dataOf(await add(plain))
    expect(askedBy(await set(destroy))).toEqual([[ada.id, grace.id], [eve]])
  })

  test('grows only with a yes of everybody whom the rule asks', async () => {
    dataOf(await add(destroy))
    const path = at(acme.id, 'groups/oncall/members')
    const joining = await service.call('POST', path, { key: rules, body: { user_id: mallory.id } })
    expect(askedBy(joining)).toEqual([[ada.id, grace.id], [eve]])
  })

  test('is not deleted while the rule names it', async () => {
    dataOf(await add(destroy))
    expect(refusal(await drop('oncall'))).toEqual([409, 'group_in_use', []])
  })

  test('is a way around the rule that a test of rules names', async () => {
    dataOf(await add(destroy))
    const body = { type: 'command', argv: ['terraform', 'destroy'] }
    const { ways_around } = dataOf(await service.call('POST', at(acme.id, 'rule-tests'), { body }))
    expect(ways_around).toContain(
      'With --break-glass, one member of @oncall approves what destroy holds, and everybody is told.',
    )
  })
})
