import { describe, expect, test } from 'vitest'
import { verifyReceipt } from '../../../src/receipt/verify.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, createApprover, decide, post, signed } from '../approver.ts'
import { minute } from '../clock.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { jwks, newRequest, refusedOutright, shown } from './decided.ts'

installHooks()

describe('a note with a denial', () => {
  const note = 'Not during the "freeze"'
  const detail = String.raw`Denied: "Not during the \"freeze\"" (the approver's words)`

  test('is part of the signed receipt, the record, its detail and the audit', async () => {
    const { request_id } = await newRequest()
    const denied = dataOf(await decide(service, request_id, ada.key, { decision: 'deny', note }))
    expect(denied).toMatchObject({ status: 'denied', note, detail })
    expect(await shown(request_id)).toMatchObject({ note, detail })
    expect(denied.attestation.claims).toMatchObject({ note })
    const expected = { status: 'denied', allowDev: true } as const
    expect((await verifyReceipt(denied.attestation, await jwks(), expected, clock.now())).valid).toBe(true)
    expect((await auditOf(service, acme.id)).at(-1)![2]).toEqual(['status', 'denied', 'note'])
  })

  test('is combined with "this was not me"', async () => {
    const { request_id } = await newRequest()
    const denied = await decide(service, request_id, ada.key, { decision: 'deny', not_me: true, note })
    expect(dataOf(denied).detail).toBe(`${detail}; the approver did not expect this request`)
  })

  test.each([
    ['another', 'Deploy tomorrow', note],
    ['none', undefined, note],
    ['one that was not sent', note, undefined],
  ])('is refused if the device signed %s', async (_, signedNote, note) => {
    const { request_id } = await newRequest()
    const response = await signed(service, request_id, 'deny', ada.key, { note: signedNote })
    expect(await refusedOutright(request_id, { decision: 'deny', note, response })).toEqual([
      403,
      'assertion_refused',
      [],
    ])
  })

  test.each(['', 'x'.repeat(281), 'a\nb', 'a\u202eb'])('cannot be %j', async (note) => {
    const { request_id } = await newRequest()
    const response = await signed(service, request_id, 'deny', ada.key)
    const answer = await post(service, request_id, { decision: 'deny', note, response })
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['note']])
  })

  test('can only be combined with a denial', async () => {
    const { request_id } = await newRequest()
    const response = await signed(service, request_id, 'approve', ada.key)
    const answer = await post(service, request_id, { decision: 'approve', note, response })
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['note']])
  })
})

describe('"this was not me"', () => {
  test('denies and mutes that key for that approver, for twenty minutes', async () => {
    const bob = await createApprover(service, acme.id, 2)
    const { request_id } = await newRequest()
    const denied = await decide(service, request_id, ada.key, { decision: 'deny', not_me: true })
    expect(dataOf(denied)).toMatchObject({
      status: 'denied',
      detail: 'the approver did not expect this request',
    })
    expect((await auditOf(service, acme.id)).at(-1)![2]).toEqual(['status', 'denied', 'not_me'])
    const muted = await ask(service, ada, {}, acme.key)
    expect([refusal(muted), muted.headers['retry-after']]).toEqual([[429, 'muted', []], '1200'])
    dataOf(await ask(service, ada))
    dataOf(await ask(service, bob, {}, acme.key))
    clock.tick(20 * minute)
    await newRequest()
  })

  test('can only be combined with a denial', async () => {
    const { request_id } = await newRequest()
    const answer = await decide(service, request_id, ada.key, { decision: 'approve', not_me: true })
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['not_me']])
  })
})
