import { describe, expect, test } from 'vitest'
import { decide } from '../approver.ts'
import { auditOf, dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { at } from '../rule-fixture.ts'
import { acme, ada, alan, create, drop, grace, loseDevice, remove, service } from './groups-stage.ts'
import {
  add,
  destroy,
  dropRule,
  eve,
  headersOf,
  heldBy,
  installHooks,
  list,
  rules,
  set,
  show,
} from './rules-stage.ts'

installHooks()

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

  test('that is held names its keys, and does not trust a name that another program wrote', async () => {
    const key = String(dataOf(await service.call('GET', '/svc/v1/whoami', { key: rules })).id)
    const rule = { ...destroy, match: { ...destroy.match, key: [key] } }
    const asked = async (name: string) => {
      const { id } = heldBy(await add({ ...rule, name }, { key: rules }))
      return dataOf(await service.call('GET', `/svc/v1/approvals/${id}`)).subject.data.body.keys
    }
    expect(await asked('one')).toEqual([`rules (key ${key})`])
    const other = String(dataOf(await service.call('GET', '/svc/v1/whoami', { key: acme.key })).id)
    rule.match.key = [other]
    await service.runSql(`UPDATE api_keys SET name = 'laptop' WHERE id = ${other}`)
    expect(await asked('two')).toEqual([`unknown (key ${other})`])
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
    dataOf(await dropRule('destroy'))
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
