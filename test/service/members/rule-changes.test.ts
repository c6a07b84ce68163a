import { describe, expect, test } from 'vitest'
import { createApprover, decide } from '../approver.ts'
import { dataOf, fence, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { at } from '../rule-fixture.ts'
import { acme, ada, alan, clock, grace, remove, service } from './groups-stage.ts'
import { add, destroy, dropRule, eve, heldBy, installHooks, list, rules, set, show } from './rules-stage.ts'

installHooks()

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
    const asked = heldBy(await dropRule('destroy', { key: rules }))
    expect(asked.people).toEqual([[ada.id, grace.id], [eve.id]])
    dataOf(await decide(service, asked.id, eve.key))
    expect((await dropRule('destroy', { key: rules, approval: asked.id })).status).toBe(409)
    dataOf(await decide(service, asked.id, ada.key))
    expect((await dropRule('destroy', { key: rules, approval: asked.id })).status).toBe(200)
  })

  test('is removed by one administrator in its first day', async () => {
    dataOf(await add(destroy))
    clock.tick(23 * 60 * 60_000)
    const asked = heldBy(await dropRule('destroy', { key: rules }))
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
