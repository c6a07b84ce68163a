import { beforeEach, describe, expect, test } from 'vitest'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { type Approver, createApprover, decide } from '../approver.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { at, createRule } from '../rule-fixture.ts'

installHooks()

let grace: Approver
beforeEach(async () => {
  grace = await createApprover(service, acme.id, 2)
})

const destroy = { type: 'command', argv: ['terraform', '**', 'destroy', '**'] }
const run = (input: object, key?: string) =>
  service.call('POST', at(acme.id, 'rule-tests'), { key, body: input })

const createKey = async (body: object) => dataOf(await service.call('POST', '/svc/v1/keys', { body }))
const statusFor = async (id: string, key?: string) =>
  (await run({ type: 'text', text: 'Deploy', key: id }, key)).status

describe('a test of the rules', () => {
  test('says which rules match, who is asked and on which terms, and asks nobody', async () => {
    const { rule, group } = await createRule(service, acme.id, {
      members: [ada.id, grace.id],
      match: destroy,
      lifetime_s: 900,
    })
    const answer = dataOf(await run({ type: 'command', argv: ['terraform', 'destroy'] }))
    expect(answer).toMatchObject({
      rules: [{ name: rule }],
      lines: [
        { group, need: 1, rules: [rule], people: [{ user_id: ada.id, excluded: null }, { excluded: null }] },
      ],
      completable: true,
      problem: null,
      lifetime_s: 900,
      use_within_s: 600,
      number: false,
      factors: [],
    })
    expect(answer.ways_around.length).toBeGreaterThan(0)
    expect(service.notified).toEqual([])
  })

  test('says whom the key excludes, and why it could not be completed', async () => {
    await createRule(service, acme.id, { members: [ada.id], match: destroy })
    const device = `/svc/v1/organizations/${acme.id}/devices/${ada.device}`
    dataOf(await service.call('DELETE', device))
    const answer = dataOf(await run({ type: 'command', argv: ['terraform', 'destroy'] }))
    expect([answer.completable, answer.problem]).toEqual([
      false,
      expect.stringContaining('has no active device'),
    ])
    expect(answer.lines[0].people[0].excluded).toContain('has no active device')
  })

  test('names the rules that an exception keeps from matching', async () => {
    const { rule } = await createRule(service, acme.id, {
      members: [ada.id, grace.id],
      match: destroy,
      except: [{ cwd: ['/srv/sandbox'] }],
    })
    const input = { type: 'command', argv: ['terraform', 'destroy'] }
    const excepted = dataOf(await run({ ...input, cwd: '/srv/sandbox' }))
    expect(excepted).toMatchObject({ rules: [], excepted: [rule] })
    const held = dataOf(await run({ ...input, cwd: '/srv/prod' }))
    expect(held).toMatchObject({ rules: [{ name: rule }], excepted: [] })
  })

  test('takes a key as its calls are: with its owner, and whether they confirmed it', async () => {
    const requester = 'confirmed'
    await createRule(service, acme.id, { members: [ada.id, grace.id], match: { type: 'text' }, requester })
    const body = { org_id: acme.id, name: 'ci', scopes: ['ask'], owner_user_id: ada.id }
    const { id, key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    const tested = async () => dataOf(await run({ type: 'text', text: 'Deploy', key: id }))
    expect((await tested()).problem).toContain('accepts only keys whose owner confirmed them')
    const confirm = (approval?: string) => {
      const headers = approval === undefined ? {} : { 'x-svc-approval': approval }
      return service.call('POST', `/svc/v1/keys/${id}/confirm-owner`, { headers })
    }
    const { request_id } = (await confirm()).body.data.request
    dataOf(await decide(service, request_id, ada.key))
    dataOf(await confirm(request_id))
    const answer = await tested()
    expect([answer.problem, answer.completable]).toEqual([null, true])
    expect(answer.lines[0].people[0].excluded).toBe('is the requester')
    const ask = { body: { action: 'Deploy' }, key }
    expect((await service.call('POST', '/svc/v1/approvals', ask)).status).toBe(200)
  })

  test('takes a key of no organization from whoever is in none, and never one of another', async () => {
    const { id: ofNone } = await createKey({ name: 'ask', scopes: ['ask'] })
    const { key: own } = await createKey({ name: 'own', org_id: acme.id, scopes: ['read'] })
    const beta = dataOf(await service.call('POST', '/organization/create', { body: { name: 'Beta' } }))
    const { id: ofBeta } = await createKey({ name: 'beta', org_id: beta.id, scopes: ['ask'] })
    expect([await statusFor(ofNone), await statusFor(ofNone, own), await statusFor(ofBeta)]).toEqual([
      200, 404, 404,
    ])
  })

  test('says that no rule matches', async () => {
    const answer = dataOf(await run({ type: 'text', text: 'Deploy' }))
    expect(answer).toMatchObject({
      rules: [],
      lines: [],
      completable: false,
      problem: expect.stringContaining('no rule'),
    })
  })

  test.each([
    [{ type: 'command' }, 'argv'],
    [{ type: 'request' }, 'operation'],
    [{ type: 'tool_call', server: 'x' }, 'tool'],
  ])('of %j says what is missing', async (input, field) => {
    expect(refusal(await run(input))).toEqual([422, 'invalid_field', [field]])
  })
})
