import { beforeEach, describe, expect, test } from 'vitest'
import { createTenant, dataOf, refusal } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { at } from '../rule-fixture.ts'
import { acme, ada, create, grace, installHooks, service } from './groups-stage.ts'

installHooks()
beforeEach(async () => void dataOf(await create('sre', [ada.id, grace.id])))

const destroy = {
  name: 'destroy',
  match: { type: 'command', argv: ['terraform', '**', 'destroy', '**'] },
  who: ['@sre'],
}
const add = (body: object): Promise<Answer> => service.call('POST', at(acme.id, 'rules'), { body })
const set = (body: object): Promise<Answer> => service.call('POST', at(acme.id, 'rule-changes'), { body })

const newKey = async () => {
  const body = { name: 'ci', org_id: acme.id, scopes: ['ask', 'keys'] }
  return dataOf(await service.call('POST', '/svc/v1/keys', { body }))
}
const withKey = (key: string) => ({ ...destroy, match: { ...destroy.match, key: [key] } })

describe('the keys of a rule', () => {
  test('are keys of the organization', async () => {
    const foreign = await createTenant(service, 'globex')
    const body = { name: 'ci', org_id: foreign.id, scopes: ['ask'] }
    const { id } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    for (const key of ['999', 'ci', id])
      expect(refusal(await add(withKey(key)))).toEqual([422, 'invalid_field', ['match.key[0]']])
    dataOf(await add(withKey((await newKey()).id)))
  })

  test('are named by their first secrets, which every later one still counts as', async () => {
    const first = await newKey()
    const newer = dataOf(await service.call('POST', `/svc/v1/keys/${first.id}/rotate`, { body: {} }))
    const refused = await add(withKey(newer.id))
    expect(refused.body.data.issues[0].message).toContain(`must be ${first.id}`)
    expect((await set({ rules: [withKey(newer.id)] })).status).toBe(422)
  })
})

const held = (name: string, operation: string[] | undefined, pattern: string) => ({
  name,
  match: { type: 'request', ...(operation && { operation }) },
  who: ['@sre'],
  reason: { pattern, example: pattern.replace('*', '7') },
})
const both = (...rules: object[]) => set({ rules })

describe('the reasons of two rules for the same calls of svc', () => {
  test.each([
    [undefined, ['user delete']],
    [['user'], ['user delete']],
    [['user delete', 'key create'], ['user delete']],
  ])('must not exclude each other: %j, %j', async (one, other) => {
    const answer = await both(held('one', one, 'OPS-*'), held('other', other, 'SEC-*'))
    expect(refusal(answer)).toEqual([409, 'rule_not_completable', []])
    dataOf(await both(held('one', one, 'OPS-*'), held('other', other, 'OPS-1*')))
  })

  test('can be different for different calls', async () => {
    const rules = [held('one', ['user'], 'OPS-*'), held('other', ['key'], 'SEC-*')]
    expect((await both(...rules)).status).toBe(200)
  })
})

test.each(['main\ufe0f', '\u2800main', 'main\u200b'])('a pattern shows all of itself: %j', async (text) => {
  const { status } = await add({ ...destroy, match: { type: 'text', text: [text] } })
  expect(status).toBe(422)
})

test.each(['d\u0435ploy.sh', 'prod\u03bf', 'merge_\u0441hanges', '\u0261it push'])(
  'a word of a pattern is of one script: %j',
  async (text) => {
    const refused = await add({ ...destroy, match: { type: 'text', text: [text] } })
    expect(refusal(refused)).toEqual([422, 'invalid_field', ['match.text[0]']])
    expect(refused.body.data.issues[0].message).toContain('in one word')
    dataOf(await add({ ...destroy, match: { type: 'text', text: ['*удали* prod', 'deploy.sh'] } }))
  },
)
