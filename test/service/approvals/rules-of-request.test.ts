import { beforeEach, describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { type Approver, createApprover, decide } from '../approver.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { at, createRule } from '../rule-fixture.ts'
import { command } from './command-subject.ts'

installHooks()

let grace: Approver
let asker: string
beforeEach(async () => {
  grace = await createApprover(service, acme.id, 2)
  const body = { name: 'ci', org_id: acme.id, scopes: ['ask'] }
  asker = dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
})

const ask = (input: object, key = asker) => service.call('POST', '/svc/v1/approvals', { key, body: input })
const asked = async (input: object, key?: string) => dataOf(await ask(input, key))
const lines = ({ lines: all }: { lines: { people: { user_id: string }[] }[] }): string[][] =>
  all.map(({ people }) => people.map(({ user_id }) => user_id))
const consume = (request_id: string, digest: string) =>
  service.call('POST', `/svc/v1/approvals/${request_id}/consume`, { key: asker, body: { digest } })
const destroy = { type: 'command', argv: ['terraform', '**', 'destroy', '**'] }
const subject = command('terraform', 'destroy')

const after = (seconds: number): string => new Date(clock.now().getTime() + seconds * 1000).toISOString()

describe('a request that a rule holds', () => {
  test('asks the people of the rule, and nobody need be named', async () => {
    await createRule(service, acme.id, { members: [ada.id], match: destroy })
    expect(lines(await asked({ subject }))).toEqual([[ada.id]])
  })

  test('asks whoever was named too, and needs both', async () => {
    await createRule(service, acme.id, { members: [ada.id], match: destroy })
    const request = await asked({ subject, approvers: [grace.mobile] })
    expect(lines(request)).toEqual([[grace.id], [ada.id]])
    dataOf(await decide(service, request.request_id, grace.key))
    expect(refusal(await consume(request.request_id, request.subject.digest))).toEqual([
      409,
      'not_approved',
      [],
    ])
    dataOf(await decide(service, request.request_id, ada.key))
    dataOf(await consume(request.request_id, request.subject.digest))
  })

  test('asks the people of every rule that holds it', async () => {
    await createRule(service, acme.id, { members: [ada.id], match: destroy })
    await createRule(service, acme.id, { members: [grace.id], match: { type: 'command', cwd: ['/srv/**'] } })
    expect(lines(await asked({ subject }))).toEqual([[ada.id], [grace.id]])
  })

  test('has its rules in what the people sign', async () => {
    const { rule } = await createRule(service, acme.id, { members: [ada.id], match: destroy })
    const { request_id } = await asked({ subject })
    const { attestation } = dataOf(await decide(service, request_id, ada.key))
    const { digest } = dataOf(await service.call('GET', at(acme.id, `rules/${rule}`)))
    expect(attestation.claims.rules).toEqual([{ name: rule, digest }])
  })

  test('has the strictest of their terms', async () => {
    const first = { members: [ada.id], match: destroy, lifetime_s: 900, number: true }
    const { group } = await createRule(service, acme.id, first)
    const body = { name: 'second', match: destroy, who: [`@${group}`], lifetime_s: 600, use_within_s: 60 }
    dataOf(
      await service.call('POST', at(acme.id, `groups/${group}/members`), { body: { user_id: grace.id } }),
    )
    dataOf(await service.call('POST', at(acme.id, 'rules'), { body }))
    const request = await asked({ subject, lifetime_s: 3000 })
    expect(request.expires_at).toBe(after(600))
    expect(request.number).toMatch(/^\d\d$/)
    const { use_by } = dataOf(
      await decide(service, request.request_id, ada.key, { decision: 'approve', number: request.number }),
    )
    expect(use_by).toBe(after(60))
  })

  test('lives longer than an hour only if a rule allows it', async () => {
    expect(refusal(await ask({ subject, approvers: [ada.mobile], lifetime_s: 3601 }))).toEqual([
      422,
      'invalid_field',
      ['lifetime_s'],
    ])
    await createRule(service, acme.id, { members: [ada.id], match: destroy, lifetime_s: 86_400 })
    const { expires_at } = await asked({ subject })
    expect(expires_at).toBe(after(86_400))
  })

  test('lives no longer because of another rule', async () => {
    const { group } = await createRule(service, acme.id, { members: [ada.id], match: destroy })
    const times = { lifetime_s: 86_400, use_within_s: 86_400 }
    const body = { name: 'patient', match: destroy, who: [`@${group}`], ...times }
    dataOf(
      await service.call('POST', at(acme.id, `groups/${group}/members`), { body: { user_id: grace.id } }),
    )
    dataOf(await service.call('POST', at(acme.id, 'rules'), { body }))
    const usual = await asked({ subject })
    expect(usual.expires_at).toBe(after(300))
    expect((await asked({ subject, lifetime_s: 80_000 })).expires_at).toBe(after(3600))
    const { use_by } = dataOf(await decide(service, usual.request_id, ada.key))
    expect(use_by).toBe(after(600))
  })

  test('needs the reason that the rule demands', async () => {
    const reason = { prompt: 'Incident', pattern: 'INC-*', example: 'INC-77' }
    await createRule(service, acme.id, { members: [ada.id], match: destroy, reason })
    for (const given of [undefined, 'because']) {
      const answer = await ask({ subject, reason: given })
      expect(refusal(answer)).toEqual([422, 'invalid_field', ['reason']])
      expect(answer.body.data.issues[0].message).toContain('Incident')
      expect(answer.body.data.hint).toContain('INC-77')
    }
    expect((await asked({ subject, reason: 'INC-1' })).reason).toBe('INC-1')
    expect(service.notified).toHaveLength(1)
  })

  test('of two rules that ask the same people says how many it needs, and who is left', async () => {
    for (let n = 0; n < 2; n++)
      await createRule(service, acme.id, { members: [ada.id, grace.id], match: destroy })
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`))
    const answer = await ask({ subject })
    expect(refusal(answer)).toEqual([409, 'not_enough_approvers', []])
    const { message, data } = answer.body
    expect(message).toMatch(
      /^Too few people can answer: 2 must agree, each for one group, and only \w+ \w+ can; /,
    )
    expect(message.split('has no active device')).toHaveLength(2)
    expect(data.hint).toMatch(/svc group add n\d+ --user ID --org \d+ adds somebody to the group$/)
  })

  test('needs a factor that the policy only reports', async () => {
    const policy = { report_only: ['location'] }
    dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy } }))
    const fence = { name: 'HQ', latitude: 1, longitude: 2, radius: 100, enabled: true }
    const body = { org_id: acme.id, geofences: [fence] }
    for (const { id } of [ada, grace])
      dataOf(await service.call('PUT', `/user/${id}/geofences/update`, { body }))
    const placed = { members: [ada.id, grace.id], match: destroy, factors: ['location'] }
    const { group } = await createRule(service, acme.id, placed)
    expect((await asked({ subject })).factors).toEqual(['biometric', 'location'])
    // Nothing says where this member must be.
    const { id } = await createApprover(service, acme.id, 3)
    dataOf(await service.call('POST', at(acme.id, `groups/${group}/members`), { body: { user_id: id } }))
    expect(refusal(await ask({ subject }))).toEqual([409, 'factor_unchecked', []])
    const test = { type: 'command', argv: ['terraform', 'destroy'] }
    const tested = dataOf(await service.call('POST', at(acme.id, 'rule-tests'), { body: test }))
    expect(tested).toMatchObject({
      completable: false,
      problem: expect.stringContaining('no active geofence'),
    })
  })

  test('comes only from a key that its owner confirmed, if the rule says so', async () => {
    await createRule(service, acme.id, { members: [ada.id], match: destroy, requester: 'confirmed' })
    const answer = await ask({ subject })
    expect(refusal(answer)).toEqual([403, 'requester_not_confirmed', []])
    expect(answer.body.data.hint).toContain('svc key create --name NAME --can ask --owner ID --org ORG')
    const body = { org_id: acme.id, name: 'own', scopes: ['ask'], owner_user_id: ada.id }
    const { id, key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    const { hint } = (await ask({ subject }, key)).body.data
    expect(hint).toContain(`Or have the owner confirm the key on their phone: svc key confirm-owner ${id}`)
  })

  test('is held by a rule for its key, or for the key that created it', async () => {
    const maker = dataOf(
      await service.call('POST', '/svc/v1/keys', {
        body: { name: 'maker', org_id: acme.id, scopes: ['ask', 'keys'] },
      }),
    )
    const child = dataOf(
      await service.call('POST', '/svc/v1/keys', {
        key: maker.key,
        body: { name: 'child', scopes: ['ask'] },
      }),
    )
    await createRule(service, acme.id, { members: [ada.id], match: { ...destroy, key: [maker.id] } })
    for (const key of [maker.key, child.key]) expect(lines(await asked({ subject }, key))).toEqual([[ada.id]])
    expect(refusal(await ask({ subject }))).toEqual([422, 'invalid_field', ['approvers']])
  })
})

const approved = async () => {
  const request = await asked({ subject, approvers: [grace.mobile] })
  dataOf(await decide(service, request.request_id, grace.key))
  return request
}

describe('an approval', () => {
  test('is not used once another rule holds the same', async () => {
    const { request_id, subject: of } = await approved()
    await createRule(service, acme.id, { members: [ada.id], match: destroy })
    expect(refusal(await consume(request_id, of.digest))).toEqual([409, 'rules_changed', []])
  })

  test('is not used once its rule says something else, and again once it says the same', async () => {
    const { rule, group } = await createRule(service, acme.id, {
      members: [ada.id, grace.id],
      match: destroy,
    })
    const { request_id, subject: of } = await asked({ subject })
    dataOf(await decide(service, request_id, grace.key))
    const body = { name: rule, match: destroy, who: [`@${group}`] }
    const set = (changed: object) =>
      service.call('POST', at(acme.id, 'rule-changes'), { body: { rules: [{ ...body, ...changed }] } })
    dataOf(await set({ number: true }))
    expect(refusal(await consume(request_id, of.digest))).toEqual([409, 'rules_changed', []])
    dataOf(await set({}))
    dataOf(await consume(request_id, of.digest))
  })

  test('is used after its rule was deleted', async () => {
    const { rule } = await createRule(service, acme.id, { members: [ada.id], match: destroy })
    const { request_id, subject: of } = await asked({ subject })
    dataOf(await decide(service, request_id, ada.key))
    dataOf(await service.call('DELETE', at(acme.id, `rules/${rule}`)))
    expect(dataOf(await consume(request_id, of.digest)).used_at).toBe(clock.iso())
  })
})

test('a request that no rule holds must name somebody', async () => {
  await createRule(service, acme.id, { members: [ada.id], match: destroy })
  const answer = await ask({ subject: command('terraform', 'plan') })
  expect(refusal(answer)).toEqual([422, 'invalid_field', ['approvers']])
  expect(service.notified).toEqual([])
})
