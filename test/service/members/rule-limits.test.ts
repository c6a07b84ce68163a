import { expect, test } from 'vitest'
import { acme, ada, alan, clock, create, grace, installHooks, remove, service } from './groups-stage.ts'
import { createApprover } from '../approver.ts'
import { hour } from '../clock.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { at } from '../rule-fixture.ts'

// What is too large must be refused when it is made: afterwards, nobody could be asked to undo it.

installHooks()

const newKey = async (): Promise<string> => {
  const body = { name: 'rules', org_id: acme.id, scopes: ['rules', 'people', 'ask'] }
  return dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
}
const add = (rule: object, key?: string) => service.call('POST', at(acme.id, 'rules'), { key, body: rule })

const quotes = (count: number): string[] => Array.from({ length: count }, (_, i) => `${'"'.repeat(190)}${i}`)

/** Of nearly the largest size, mostly quotes: two bytes each in JSON, and four in JSON in JSON. */
const large = { name: 'large', match: { type: 'text', text: quotes(20) }, who: ['@sre'] }

const holding = (name: string, operation: string[]) => ({
  name,
  match: { type: 'request', operation },
  who: [`@${name}:2`],
})

test('the largest rule can be replaced and deleted by those whom it asks', async () => {
  dataOf(await create('sre', [ada.id, grace.id]))
  dataOf(await service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id: ada.id } }))
  expect(refusal(await add({ ...large, except: [{ text: quotes(2) }] }))).toEqual([
    422,
    'invalid_field',
    ['match'],
  ])
  dataOf(await add(large))
  clock.tick(25 * hour)
  const key = await newKey()
  const removed = await service.call('DELETE', at(acme.id, 'rules/large'), { key })
  const rules = [{ ...large, match: { type: 'text', text: large.match.text.map((text) => `*${text}`) } }]
  const replaced = await service.call('POST', at(acme.id, 'rule-changes'), { key, body: { rules } })
  expect([removed, replaced].map(({ body }) => body.data.code)).toEqual([
    'approval_required',
    'approval_required',
  ])
})

test('a change asks no more people than one request can ask, and a rule is not made that would', async () => {
  const ids: string[] = []
  for (let n = 0; n < 42; n++) {
    const { id } = await createApprover(service, acme.id, 100 + n)
    dataOf(await service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id: id } }))
    ids.push(id)
  }
  const names = ['one', 'two', 'three']
  for (const [i, name] of names.entries()) dataOf(await create(name, ids.slice(14 * i, 14 * i + 14)))
  const match = { type: 'text', text: ['*'] }
  const refused = await add({ name: 'all', match, who: names.map((name) => `@${name}`) })
  expect(refusal(refused)).toEqual([409, 'rule_not_completable', []])
  // Nor is somebody added to one that asks as many as it can.
  dataOf(await create('few', ids.slice(28, 39)))
  dataOf(await add({ name: 'most', match, who: ['@one', '@two', '@few'] }))
  const more = await service.call('POST', at(acme.id, 'groups/few/members'), { body: { user_id: ids[39] } })
  expect(refusal(more)).toEqual([409, 'rule_not_completable', []])
  const { lines } = (await create('four', [ada.id], await newKey())).body.data.request
  expect(lines[0].people.map(({ user_id }: { user_id: string }) => user_id)).toEqual(ids.slice(0, 40))
})

test('two rules for the same calls are not made if nobody could be asked for both', async () => {
  dataOf(await create('one', [ada.id, grace.id, alan.id]))
  dataOf(await create('two', [ada.id, grace.id, alan.id]))
  dataOf(await add(holding('one', ['rule', 'geofence'])))
  expect(refusal(await add(holding('two', ['geofence delete'])))).toEqual([409, 'rule_not_completable', []])
  dataOf(await add(holding('two', ['timeslot'])))
})

test('the groups of two rules for the same calls cannot shrink to people too few for both', async () => {
  dataOf(await create('one', [ada.id, grace.id]))
  dataOf(await create('two', [grace.id, alan.id]))
  const match = { type: 'request', operation: ['timeslot'] }
  for (const name of ['one', 'two']) dataOf(await add({ name, match, who: [`@${name}`] }))
  dataOf(await remove('one', ada.id))
  expect(refusal(await remove('two', alan.id))).toEqual([409, 'rule_not_completable', []])
})

const rule = (name: string, operation: string) =>
  add({ name, match: { type: 'request', operation: [operation] }, who: [`@${name}`] })

test('a third rule of the same two people is refused, because all three hold the same call', async () => {
  for (const name of ['one', 'two', 'three']) dataOf(await create(name, [ada.id, grace.id]))
  dataOf(await rule('one', 'timeslot'))
  dataOf(await rule('two', 'timeslot delete'))
  expect(refusal(await rule('three', 'timeslot'))).toEqual([409, 'rule_not_completable', []])
  dataOf(await rule('three', 'geofence'))
})

test('a group that lost people with the organization is filled again one by one', async () => {
  dataOf(await create('one', [ada.id, grace.id, alan.id]))
  dataOf(await add({ name: 'one', match: { type: 'text' }, who: ['@one:2'] }))
  for (const { id } of [grace, alan])
    dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${id}`))
  for (const n of [4, 5]) {
    const { id } = await createApprover(service, acme.id, n)
    const { members } = dataOf(
      await service.call('POST', at(acme.id, 'groups/one/members'), { body: { user_id: id } }),
    )
    expect(members).toContain(id)
  }
})

test('changes of one call ask one administrator for all of them', async () => {
  const boss = await createApprover(service, acme.id, 7)
  dataOf(await service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id: boss.id } }))
  for (const name of ['one', 'two']) {
    dataOf(await create(name, [ada.id, grace.id, alan.id]))
    dataOf(await add({ name, match: { type: 'text' }, who: [`@${name}`] }))
  }
  clock.tick(25 * hour)
  const key = await newKey()
  const body = { removed: ['one', 'two'], groups: [{ name: 'three', members: [ada.id] }] }
  const asked = (await service.call('POST', at(acme.id, 'rule-changes'), { key, body })).body.data.request
  expect(asked.lines).toMatchObject([{ group: 'one' }, { group: 'two' }, { people: [{ user_id: boss.id }] }])
})
