import { beforeEach, describe, expect, test } from 'vitest'
import { type Approver, createApprover, decide, enroll } from '../approver.ts'
import { auditOf, createMember, dataOf, fence, refusal, refusedWithoutTrace } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { at } from '../rule-fixture.ts'
import {
  acme,
  ada,
  alan,
  clock,
  create,
  drop,
  grace,
  installHooks,
  loseDevice,
  remove,
  service,
} from './groups-stage.ts'

installHooks()

let eve: Pick<Approver, 'id' | 'key'>
let rules: string
beforeEach(async () => {
  const { id } = await createMember(service, acme.id, 5)
  dataOf(await service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id: id } }))
  eve = { id, ...(await enroll(service, acme.id, id)) }
  const body = { name: 'rules', org_id: acme.id, scopes: ['rules', 'read', 'ask'] }
  rules = dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
  dataOf(await create('sre', [ada.id, grace.id]))
  dataOf(await create('dba', [grace.id, alan.id]))
})

type Sent = { key?: string; approval?: string | undefined }
const headersOf = (approval: string | undefined) =>
  approval === undefined ? {} : { 'x-svc-approval': approval }

const destroy = {
  name: 'destroy',
  match: { type: 'command', argv: ['terraform', '**', 'destroy', '**'] },
  who: ['@sre'],
}
const add = (rule: object, { key, approval }: Sent = {}): Promise<Answer> =>
  service.call('POST', at(acme.id, 'rules'), { key, body: rule, headers: headersOf(approval) })
const drop_ = (name: string, { key, approval }: Sent = {}): Promise<Answer> =>
  service.call('DELETE', at(acme.id, `rules/${name}`), { key, headers: headersOf(approval) })
const set = (changes: object, { key, approval }: Sent = {}): Promise<Answer> =>
  service.call('POST', at(acme.id, 'rule-changes'), { key, body: changes, headers: headersOf(approval) })
const show = (name = 'destroy') => service.call('GET', at(acme.id, `rules/${name}`))
const list = async () => dataOf(await service.call('GET', at(acme.id, 'rules')))

/** The request that a refusal names, and whom it asks. */
const heldBy = ({ status, body }: Answer): { id: string; people: string[][] } => {
  expect([status, body.data.code]).toEqual([403, 'approval_required'])
  const { request_id, lines } = body.data.request
  return {
    id: request_id,
    people: lines.map(({ people }: { people: { user_id: string }[] }) => people.map((one) => one.user_id)),
  }
}

describe('a rule', () => {
  test('is created by the operator, shown with its digest, and in the audit', async () => {
    const made = dataOf(await add(destroy))
    expect(made).toMatchObject({
      ...destroy,
      org_id: acme.id,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(dataOf(await show())).toEqual(made)
    expect(await list()).toEqual([made])
    expect(await auditOf(service, acme.id)).toContainEqual(['createRule', 'rule:destroy', expect.anything()])
  })

  test.each([
    [{ name: 'x', match: { type: 'file', argv: ['x'] }, who: ['@sre'] }, 'match.argv'],
    [{ name: 'x', match: { type: 'file' }, who: ['@nobody'] }, 'who[0]'],
    [{ name: 'x', match: { type: 'file' }, who: ['+12025550101'] }, 'who[0]'],
    [{ name: 'x', match: { type: 'file' } }, 'who'],
  ])('is refused as %j', async (rule, field) => {
    expect(await refusedWithoutTrace(service, () => add(rule))).toEqual([422, 'invalid_field', [field]])
  })

  test('names the group that does not exist, and one like it', async () => {
    const answer = await add({ ...destroy, who: ['@sree:2'] })
    expect(answer.body.message).toBe('who[0] must be a group that exists, not @sree:2; did you mean @sre?')
  })

  test('has a name that no other rule has', async () => {
    dataOf(await add(destroy))
    expect(refusal(await add(destroy))).toEqual([409, 'rule_exists', []])
    expect(refusal(await show('none'))).toEqual([404, 'not_found', []])
  })

  test.each([[['@sre:2']], [['@one']]])(
    'is refused if %j could not complete it when one of them asks',
    async (who) => {
      dataOf(await create('one', [grace.id]))
      const answer = await add({ ...destroy, who })
      expect(refusal(answer)).toEqual([409, 'rule_not_completable', []])
      expect(answer.body.message).toMatch(/it needs (?:3 members of @sre|2 members of @one) with an active/)
    },
  )

  test('is refused if the people have no device', async () => {
    await loseDevice(ada)
    expect(refusal(await add(destroy))).toEqual([409, 'rule_not_completable', []])
  })

  test('that nobody can satisfy any more is named, with what helps', async () => {
    dataOf(await add({ ...destroy, match: { type: 'text' } }))
    for (const one of [ada, grace]) await loseDevice(one)
    const body = { action: 'Deploy', org_id: acme.id }
    const answer = await service.call('POST', '/svc/v1/approvals', { body })
    expect(refusal(answer)).toEqual([409, 'not_enough_approvers', []])
    expect(answer.body.data.hint).toMatch(/Rules ask them: destroy\. svc group add/)
  })

  test('keeps its group from being deleted', async () => {
    dataOf(await add(destroy))
    expect(refusal(await drop('sre'))).toEqual([409, 'group_in_use', []])
    dataOf(await drop_('destroy'))
    dataOf(await drop('sre'))
  })
})

describe('a group', () => {
  test('that three rules ask is changed with the yes of one member, as if one asked it', async () => {
    for (const name of ['one', 'two', 'three']) dataOf(await add({ ...destroy, name }))
    const body = { user_id: alan.id }
    const path = at(acme.id, 'groups/sre/members')
    const asked = heldBy(await service.call('POST', path, { key: rules, body }))
    expect(asked.people).toEqual([[ada.id, grace.id], [eve.id]])
    for (const { key } of [ada, eve]) dataOf(await decide(service, asked.id, key))
    dataOf(await service.call('POST', path, { key: rules, body, headers: headersOf(asked.id) }))
  })

  test('keeps as many members as its rules need, and can shrink together with them', async () => {
    dataOf(await service.call('POST', at(acme.id, 'groups/sre/members'), { body: { user_id: alan.id } }))
    const two = { ...destroy, who: ['@sre:2'] }
    dataOf(await add(two))
    dataOf(await remove('sre', alan.id))
    expect(refusal(await remove('sre', ada.id))).toEqual([409, 'rule_not_completable', []])
    const fewer = { groups: [{ name: 'sre', members: [String(grace.id)] }] }
    expect(refusal(await set(fewer))).toEqual([409, 'rule_not_completable', []])
    dataOf(await set({ ...fewer, rules: [{ ...destroy, who: ['@dba'] }] }))
  })
})

describe('with a key, a rule', () => {
  test('is added once an administrator whom the key did not appoint approves it whole', async () => {
    const asked = heldBy(await add(destroy, { key: rules }))
    expect(asked.people).toEqual([[eve.id]])
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${asked.id}`))
    expect(subject.data.body).toMatchObject(destroy)
    expect(await list()).toEqual([])
    dataOf(await decide(service, asked.id, eve.key))
    const weaker = { ...destroy, match: { type: 'command', argv: ['terraform'] } }
    expect(refusal(await add(weaker, { key: rules, approval: asked.id }))[1]).toBe('other_subject')
    dataOf(await add(destroy, { key: rules, approval: asked.id }))
    expect(await list()).toHaveLength(1)
  })

  test('is removed only with its own people, too, after the first day', async () => {
    dataOf(await add(destroy))
    clock.tick(24 * 60 * 60_000 + 1)
    const asked = heldBy(await drop_('destroy', { key: rules }))
    expect(asked.people).toEqual([[ada.id, grace.id], [eve.id]])
    dataOf(await decide(service, asked.id, eve.key))
    expect((await drop_('destroy', { key: rules, approval: asked.id })).status).toBe(409)
    dataOf(await decide(service, asked.id, ada.key))
    expect((await drop_('destroy', { key: rules, approval: asked.id })).status).toBe(200)
  })

  test('is removed by one administrator in its first day', async () => {
    dataOf(await add(destroy))
    clock.tick(23 * 60 * 60_000)
    const asked = heldBy(await drop_('destroy', { key: rules }))
    expect(asked.people).toEqual([[eve.id]])
  })

  test('is changed only with its people, in its first day too', async () => {
    dataOf(await add(destroy))
    const weaker = { ...destroy, except: [{ cwd: ['/srv/**'] }] }
    const asked = heldBy(await set({ rules: [weaker] }, { key: rules }))
    expect(asked.people).toEqual([[ada.id, grace.id], [eve.id]])
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${asked.id}`))
    expect(subject.summary).toBe('Set rules in acme: destroy')
    const line = (label: string) => subject.fields.find((one: { label: string }) => one.label === label)
    expect(line('rule.destroy.except')).toEqual({
      label: 'rule.destroy.except',
      before: 'none',
      value: '[{"cwd":["/srv/**"]}]',
    })
    expect(line('rule.destroy.who')).toEqual({ label: 'rule.destroy.who', value: '["@sre"]' })
    expect(line('rules')).toBeUndefined()
    for (const key of [ada.key, eve.key]) dataOf(await decide(service, asked.id, key))
    // What it replaces is not what they saw.
    dataOf(await set({ rules: [{ ...destroy, number: true }] }))
    expect(refusal(await set({ rules: [weaker] }, { key: rules, approval: asked.id }))[1]).toBe(
      'approval_required',
    )
    expect(dataOf(await show()).except).toBeUndefined()
  })

  test('stays as it is if its group loses or gets somebody without its people', async () => {
    dataOf(await add(destroy))
    const asked = heldBy(await remove('sre', ada.id, rules))
    // Whoever is removed has no say.
    expect(asked.people).toEqual([[grace.id], [eve.id]])
    const added = heldBy(
      await service.call('POST', at(acme.id, 'groups/sre/members'), {
        key: rules,
        body: { user_id: alan.id },
      }),
    )
    expect(added.people).toEqual([[ada.id, grace.id], [eve.id]])
  })

  test('that requires a place is not weakened by a geofence without its people', async () => {
    const path = `/organization/${acme.id}/create/geo-fence`
    const placed = { ...destroy, factors: ['location'] }
    expect(refusal(await add(placed))).toEqual([409, 'rule_not_completable', []])
    dataOf(await service.call('POST', path, { body: fence }))
    dataOf(await add(placed))
    const asked = heldBy(await service.call('POST', path, { key: rules, body: fence }))
    expect(asked.people).toEqual([[ada.id, grace.id]])
    const slot = { name: 'Day', days: ['mon'], start: '09:00', end: '17:00', timezone: 'UTC' }
    dataOf(await service.call('POST', `/organization/${acme.id}/timeslots/add`, { key: rules, body: slot }))
  })

  test('cannot be added if only the key could approve it', async () => {
    const own = dataOf(
      await service.call('POST', '/svc/v1/keys', { body: { name: 'all', org_id: acme.id, scopes: ['all'] } }),
    ).key
    await service
      .call(
        'DELETE',
        at(
          acme.id,
          `devices/${dataOf(await service.call('GET', at(acme.id, `users/${eve.id}/devices`)))[0].id}`,
        ),
      )
      .then(dataOf)
    const mallory = await createApprover(service, acme.id, 66)
    dataOf(
      await service.call('POST', '/make-admin', { key: own, body: { org_id: acme.id, user_id: mallory.id } }),
    )
    expect(refusal(await add(destroy, { key: own }))).toEqual([409, 'not_enough_approvers', []])
  })
})

describe('several changes', () => {
  test('are one request, which everybody concerned approves', async () => {
    dataOf(await add(destroy))
    clock.tick(24 * 60 * 60_000 + 1)
    const changes = {
      groups: [
        { name: 'ops', members: [ada.id, alan.id] },
        { name: 'sre', members: [] },
      ],
      rules: [{ ...destroy, name: 'apply', who: ['@ops'] }],
      removed: ['destroy'],
    }
    const asked = heldBy(await set(changes, { key: rules }))
    expect(asked.people.toSorted()).toEqual([[ada.id, grace.id], [eve.id]].toSorted())
    for (const key of [grace.key, eve.key]) dataOf(await decide(service, asked.id, key))
    dataOf(await set(changes, { key: rules, approval: asked.id }))
    expect((await list()).map(({ name }: { name: string }) => name)).toEqual(['apply'])
  })

  test('stay undone if one is not possible', async () => {
    const changes = {
      groups: [{ name: 'ops', members: [ada.id, alan.id] }],
      rules: [{ ...destroy, who: ['@none'] }],
    }
    expect(await refusedWithoutTrace(service, () => set(changes))).toEqual([
      422,
      'invalid_field',
      ['rules[0].who[0]'],
    ])
    expect(refusal(await set({ rules: [destroy, destroy] }))).toEqual([422, 'invalid_field', ['rules']])
    expect(refusal(await set({ removed: ['none'] }))).toEqual([404, 'not_found', []])
  })
})
