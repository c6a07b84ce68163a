import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, decide } from '../approver.ts'
import { minute } from '../clock.ts'
import { auditOf, createTenant, dataOf, fence, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { createRule } from '../rule-fixture.ts'
import { approve, approveAt, brief, deny, save, started, token, validate } from './verification.ts'

installHooks()

describe('POST /validate/global/auth', () => {
  test('passes after the person has approved, and only once', async () => {
    const request_id = await started()
    expect(await refusedWithoutTrace(service, () => validate())).toEqual([409, 'pending', []])
    await approve(request_id)
    const data = dataOf(await validate())
    expect(data).toMatchObject({ user_id: ada.id, request_id })
    expect(data.attestation.claims).toMatchObject({ jti: request_id, status: 'approved', sub: ada.mobile })
    expect(brief(data.factors).slice(0, 2)).toEqual([
      ['decision', 'required', 'PASS', 'service'],
      ['biometric', 'required', 'PASS', 'service'],
    ])
    expect(refusal(await validate())).toEqual([410, 'spent', []])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'validateAuth',
      `verification:${request_id}`,
      ['spent_at', 'success', 'source: service'],
    ])
  })

  test('looks at the rules again: one made since the yes holds it', async () => {
    await approve(await started())
    await createRule(service, acme.id, { members: [ada.id], match: { type: 'text' } })
    expect(refusal(await validate())).toEqual([409, 'rules_changed', []])
  })

  test('does not take the yes of one person for another whose number another program gave them', async () => {
    await approve(await started())
    await service.runSql(`UPDATE people SET mobile = '+12025550177' WHERE id = ${ada.id}`)
    expect(refusal(await validate({ mobile: '+12025550177' }))).toEqual([409, 'store_changed', []])
  })

  test('finds nothing that another key of the organization started', async () => {
    await approve(await started())
    const { key } = dataOf(
      await service.call('POST', '/svc/v1/keys', {
        body: { name: 'other', org_id: acme.id, scopes: ['ask'] },
      }),
    )
    expect(refusal(await validate({}, { key }))).toEqual([404, 'not_found', []])
    expect(dataOf(await validate()).decision).toBe('PASS')
  })

  test('accepts the full number without a plus', async () => {
    await approve(await started())
    expect(dataOf(await validate({ mobile: ada.mobile.slice(1) })).user_id).toBe(ada.id)
  })

  test('passes for one of many concurrent calls', async () => {
    await approve(await started())
    const answers = await Promise.all(Array.from({ length: 8 }, () => validate()))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(410)])
  })

  test('answers a repeat with the same Idempotency-Key as the first time', async () => {
    await approve(await started())
    const headers = { 'idempotency-key': 'v1' }
    const first = await validate({}, { headers })
    expect((await validate({}, { headers })).body).toEqual(first.body)
  })

  test('denies each time if the person denied', async () => {
    await deny(await started())
    for (let i = 0; i < 2; i++) {
      const answer = await validate()
      expect([answer.body.status, ...refusal(answer)]).toEqual(['error', 403, 'denied', []])
      expect(answer.body.message).toBe('Denied: decision: the person denied on the phone')
      expect(brief(answer.body.data.factors)[0]).toEqual(['decision', 'required', 'FAIL', 'service'])
    }
  })

  test('shows which rule refused what the person approved', async () => {
    dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
    await decide(service, await started(), ada.key, approveAt(fence.latitude + 1))
    const { message, data } = (await validate()).body
    expect(message).toMatch(/^Denied: decision: refused by the rules; location: [^;]* km from Head[^;]*$/)
    expect(brief(data.factors)).toEqual([
      ['decision', 'required', 'FAIL', 'service'],
      ['biometric', 'required', 'PASS', 'service'],
      ['location', 'required', 'FAIL', 'service'],
    ])
  })

  test('answers expired if the person was late, or the caller', async () => {
    await started()
    clock.tick(5 * minute)
    expect(refusal(await validate())).toEqual([410, 'expired', []])
    const late = await started()
    await approve(late)
    clock.tick(10 * minute)
    expect(refusal(await validate())).toEqual([410, 'expired', []])
    expect(refusal(await validate({ request_id: late }))).toEqual([410, 'expired', []])
  })

  test('uses the newest prompt, and an older one only by its request id', async () => {
    const first = await started()
    await approve(first)
    const second = await started()
    expect(refusal(await validate())).toEqual([409, 'pending', []])
    await deny(second)
    expect(refusal(await validate())).toEqual([403, 'denied', []])
    expect(dataOf(await validate({ request_id: first })).request_id).toBe(first)
  })

  test('does not find a plain approval, a withdrawn prompt, or a claim of the caller', async () => {
    const plain = dataOf(await ask(service, ada, {}, acme.key)).request_id
    await approve(plain)
    expect(refusal(await validate())).toEqual([404, 'not_found', []])
    expect(refusal(await validate({ request_id: plain }))).toEqual([404, 'not_found', []])
    dataOf(await save(dataOf(await token()).auth_token))
    expect(refusal(await validate())).toEqual([404, 'not_found', []])
    const withdrawn = await started()
    await service.call('POST', `/svc/v1/approvals/${withdrawn}/withdraw`, { body: {} })
    expect(refusal(await validate())).toEqual([410, 'expired', []])
  })

  test('finds nothing for another organization, or for a user who is no longer an active member', async () => {
    const globex = await createTenant(service, 'globex')
    await approve(await started())
    for (const more of [{}, { org_id: acme.id }])
      expect(refusal(await validate(more, { key: globex.key }))).toEqual([404, 'not_found', []])
    await service.call('POST', `/organization/${acme.id}/user/${ada.id}/pending`, { body: {} })
    expect(await refusedWithoutTrace(service, () => validate())).toEqual([404, 'not_found', []])
  })

  test.each([
    [{ mobile: '0012025550101' }, ['mobile']],
    [{ mobile: undefined }, ['mobile']],
    [{ code: 1 }, ['code']],
  ])('refuses %j and names the field', async (more, fields) => {
    expect(refusal(await validate(more))).toEqual([422, 'invalid_field', fields])
  })
})
