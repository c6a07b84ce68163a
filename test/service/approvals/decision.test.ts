import { describe, expect, test } from 'vitest'
import { verifyReceipt } from '../../../src/receipt/verify.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { decide, enroll, post, signed } from '../approver.ts'
import { minute } from '../clock.ts'
import { chainOf, dataOf, refusal } from '../fixtures.ts'
import { moveDevice } from '../devices/moves.ts'
import { jwks, newRequest, refusedOutright, shown } from './decided.ts'

installHooks()

describe('a decision', () => {
  test.each(['ES256', 'EdDSA'] as const)(
    'by a %s key approves, and the receipt verifies with the key set alone',
    async (alg) => {
      const { key, device } = await enroll(service, acme.id, ada.id, alg)
      dataOf(await moveDevice(service, ada, device))
      const { request_id } = await newRequest({ reason: 'release day', requester: 'CI' })
      clock.tick(minute)
      const decided = dataOf(await decide(service, request_id, key))
      expect(decided).toMatchObject({ status: 'approved', detail: null, decided_at: clock.iso() })
      const { attestation } = await shown(request_id)
      expect(attestation).toEqual(decided.attestation)
      const wanted = { action: 'Deploy 4.2', approver: ada.mobile, requester: 'CI', requestId: request_id }
      const expectations = { ...wanted, factors: ['biometric'], allowDev: true, maxAgeS: 60 }
      const verdict = await verifyReceipt(attestation, await jwks(), expectations, clock.now())
      expect(verdict.checks.filter(({ ok }) => !ok)).toEqual([])
      expect(verdict.valid).toBe(true)
      expect(attestation.claims).toMatchObject({
        dev: true,
        amr: ['swk', 'user', 'mfa'],
        reason: 'release day',
      })
    },
  )

  test('denies with a receipt that is not valid as an approval', async () => {
    const { request_id } = await newRequest()
    const denied = dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
    expect(denied).toMatchObject({ status: 'denied', detail: null })
    const verify = (status?: 'denied') =>
      jwks().then((keys) => verifyReceipt(denied.attestation, keys, { status, allowDev: true }, clock.now()))
    expect((await verify()).valid).toBe(false)
    expect((await verify('denied')).valid).toBe(true)
  })

  test('is audited with the approver and the device', async () => {
    const { request_id } = await newRequest()
    await decide(service, request_id, ada.key)
    const rows = await chainOf(service, acme.id)
    expect(rows.at(-1)).toMatchObject({
      action: 'decideApproval',
      actor: `user:${ada.id} (device ${ada.device})`,
      subject: `approval:${request_id}`,
      changes: ['status', 'approved'],
    })
    const path = `/svc/v1/organizations/${acme.id}/users/${ada.id}/devices`
    expect(dataOf(await service.call('GET', path))[0].last_used_at).toBe(clock.iso())
  })

  test('is final: another one is refused with the outcome', async () => {
    const { request_id } = await newRequest()
    const [approve, deny, denyAgain] = [
      await signed(service, request_id, 'approve', ada.key),
      await signed(service, request_id, 'deny', ada.key),
      await signed(service, request_id, 'deny', ada.key),
    ]
    dataOf(await post(service, request_id, { decision: 'deny', response: deny }))
    const again = { decision: 'deny', response: denyAgain }
    for (const body of [again, { decision: 'approve', response: approve }])
      expect(await refusedOutright(request_id, body)).toEqual([409, 'already_denied', []])
    expect((await shown(request_id)).status).toBe('denied')
  })

  test('counts once of many at once, and the receipt belongs to that one', async () => {
    const { request_id } = await newRequest()
    const decisions = ['approve', 'deny', 'approve', 'deny'] as const
    const responses = await Promise.all(decisions.map((one) => signed(service, request_id, one, ada.key)))
    const answers = await Promise.all(
      decisions.map((decision, i) => post(service, request_id, { decision, response: responses[i] })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
    const won = answers.find(({ status }) => status === 200)!
    expect((await shown(request_id)).attestation).toEqual(dataOf(won).attestation)
  })

  test('repeated with the same Idempotency-Key has the same answer', async () => {
    const { request_id } = await newRequest()
    const body = { decision: 'approve', response: await signed(service, request_id, 'approve', ada.key) }
    const more = { headers: { 'idempotency-key': 'd1' } }
    const first = await post(service, request_id, body, more)
    expect((await post(service, request_id, body, more)).body).toEqual(first.body)
    expect((await post(service, request_id, body, more)).headers['idempotent-replayed']).toBe('true')
  })

  test('counts in the last millisecond and not in the one after', async () => {
    const [first, second] = [await newRequest(), await newRequest()]
    const responses = [
      await signed(service, first.request_id, 'approve', ada.key),
      await signed(service, second.request_id, 'approve', ada.key),
    ]
    clock.tick(5 * minute - 1)
    dataOf(await post(service, first.request_id, { decision: 'approve', response: responses[0] }))
    clock.tick(1)
    const late = await post(service, second.request_id, { decision: 'approve', response: responses[1] })
    expect(refusal(late)).toEqual([410, 'expired', []])
    expect(await shown(second.request_id)).toMatchObject({ status: 'expired', attestation: null })
    clock.tick(-minute)
    const again = await post(service, second.request_id, { decision: 'approve', response: responses[1] })
    expect(refusal(again)).toEqual([410, 'expired', []])
  })

  test('is too late if the request expires between the check and the statement', async () => {
    const { request_id } = await newRequest()
    const response = await signed(service, request_id, 'approve', ada.key)
    clock.tick(5 * minute - 1)
    clock.tickAfterRead(1)
    const late = await post(service, request_id, { decision: 'approve', response })
    expect(refusal(late)).toEqual([410, 'expired', []])
    expect(await shown(request_id)).toMatchObject({ status: 'expired', attestation: null })
  })

  test('uses the clock of the store, even if it is an hour off', async () => {
    const { request_id, expires_at } = await newRequest()
    expect(expires_at).toBe('2030-01-31T12:05:00.000Z')
    const response = await signed(service, request_id, 'approve', ada.key)
    clock.tick(60 * minute)
    expect(refusal(await post(service, request_id, { decision: 'approve', response }))[0]).toBe(410)
  })
})

describe('a decision is refused when meanwhile', () => {
  const cases: [string, () => Promise<unknown>, [number, string]][] = [
    [
      'the device was revoked',
      () => service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`),
      [403, 'device_revoked'],
    ],
    [
      'the approver was removed',
      () => service.call('POST', '/organization/remove/user', { body: { org_id: acme.id, user_id: ada.id } }),
      [403, 'approver_not_active'],
    ],
    [
      'the approver was put on hold',
      () => service.call('POST', `/organization/${acme.id}/user/${ada.id}/pending`, { body: {} }),
      [403, 'approver_not_active'],
    ],
    [
      'the approver was deleted',
      () => service.call('DELETE', `/organization/${acme.id}/delete/user/${ada.id}`),
      [404, 'not_found'],
    ],
    [
      'the organization was deleted',
      () => service.call('DELETE', `/organization/${acme.id}/delete`),
      [404, 'not_found'],
    ],
    [
      'the key that asked was revoked',
      () => service.call('DELETE', `/svc/v1/keys/${acme.keyId}`),
      [410, 'expired'],
    ],
  ]

  test.each(cases)('%s', async (_, change, [status, code]) => {
    const { request_id } = await newRequest()
    const response = await signed(service, request_id, 'approve', ada.key)
    expect((await change()) as object).toMatchObject({ status: 200 })
    expect(await refusedOutright(request_id, { decision: 'approve', response })).toEqual([status, code, []])
  })

  // The check of the statement itself: all was well when the assertion was verified.
  test.each(cases)('%s, between the check and the statement', async (_, change, [status, code]) => {
    const { request_id } = await newRequest()
    const response = await signed(service, request_id, 'approve', ada.key)
    const answers = await Promise.all([
      change(),
      post(service, request_id, { decision: 'approve', response }),
    ])
    expect(refusal(answers[1])).toEqual([status, code, []])
  })
})
