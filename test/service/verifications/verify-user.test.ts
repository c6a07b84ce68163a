import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, createApprover, decide, show } from '../approver.ts'
import { minute } from '../clock.ts'
import { createMember, createTenant, dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { policy, validate, verify } from './verification.ts'

installHooks()

describe('POST /verify-user', () => {
  test('notifies the phone with a clear action, and answers that the prompt was sent', async () => {
    const { status, body } = await verify()
    expect([status, body.status, body.message]).toEqual([200, 'success', 'Prompt sent'])
    const { request_id, ...data } = body.data
    const expires_at = new Date(Date.parse(clock.iso()) + 5 * minute).toISOString()
    expect(data).toEqual({ user_id: ada.id, number: null, expires_at })
    expect(service.notified).toMatchObject([{ request_id, org_id: acme.id, user_id: Number(ada.id) }])
    expect(dataOf(await show(service, request_id, acme.key))).toMatchObject({
      action: 'Verify your identity for acme',
      requester: 'of acme',
      approver_mobile: '+12025550101',
    })
  })

  test('accepts any spelling of a number', async () => {
    expect(dataOf(await verify({ mobile: '(202) 555-0101' })).user_id).toBe(ada.id)
  })

  test('uses the factors and the number of the policy', async () => {
    await policy({ require_number: true, device_trust: true, factors: ['device'] })
    const { request_id, number } = dataOf(await verify())
    expect(number).toMatch(/^\d\d$/)
    const { factors } = dataOf(await show(service, request_id, acme.key))
    expect(factors).toEqual(['biometric', 'device'])
    const wrong = number === '10' ? '11' : '10'
    await decide(service, request_id, ada.key, { decision: 'approve', number: wrong })
    expect(refusal(await validate())).toEqual([409, 'pending', []])
    dataOf(await decide(service, request_id, ada.key, { decision: 'approve', number }))
    expect(dataOf(await validate()).attestation.claims.number_matched).toBe(true)
  })

  test('has one answer for an unknown number, a person without a device and an inactive one', async () => {
    await createMember(service, acme.id, 2)
    const held = await createApprover(service, acme.id, 3)
    await service.call('POST', `/organization/${acme.id}/user/${held.id}/pending`, { body: {} })
    const globex = await createTenant(service, 'globex')
    await createApprover(service, globex.id, 4)
    const answers = []
    for (const n of [2, 3, 4, 5]) answers.push((await verify({ mobile: String(2025550100 + n) })).body)
    expect(answers[0].data.code).toBe('approver_not_enrolled')
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(service.notified).toEqual([])
  })

  test.each([
    [{ country_code: '1' }, ['country_code']],
    [{ country_code: '+999' }, ['country_code']],
    [{ mobile: 'ada' }, ['mobile']],
    [{ mobile: '+442071838750' }, ['mobile']],
    [{ mobil: 'x' }, ['mobil']],
  ])('refuses %j and names the field', async (more, fields) => {
    expect(await refusedWithoutTrace(service, () => verify(more))).toEqual([422, 'invalid_field', fields])
  })

  test('requires the organization of an operator only if the person is in several', async () => {
    const { operatorKey: key } = service
    expect(dataOf(await verify({}, { key })).user_id).toBe(ada.id)
    const globex = await createTenant(service, 'globex')
    await createApprover(service, globex.id, 1)
    expect(refusal(await verify({}, { key }))).toEqual([422, 'invalid_field', ['org_id']])
    const { request_id } = dataOf(await verify({ org_id: globex.id }, { key }))
    expect(dataOf(await show(service, request_id)).org_id).toBe(globex.id)
    expect(refusal(await validate({}, { key }))).toEqual([422, 'invalid_field', ['org_id']])
    expect(refusal(await validate({ org_id: globex.id }, { key }))).toEqual([409, 'pending', []])
  })

  test('has the limits of every prompt', async () => {
    for (let i = 0; i < 5; i++) dataOf(await verify())
    expect(refusal(await verify())).toEqual([429, 'too_many_rings', []])
  })

  test('withdraws the earlier prompt of this key, and no other', async () => {
    const { operatorKey: key } = service
    const [first, others, plain] = [
      dataOf(await verify()).request_id,
      dataOf(await verify({}, { key })).request_id,
      dataOf(await ask(service, ada, {}, acme.key)).request_id,
    ]
    const second = dataOf(await verify()).request_id
    const statesNow = await Promise.all(
      [first, second, others, plain].map(async (id) => dataOf(await show(service, id))),
    )
    expect(statesNow.map(({ status }) => status)).toEqual(['expired', 'pending', 'pending', 'pending'])
    expect(statesNow[0].detail).toBe('replaced by a newer prompt')
  })
})
