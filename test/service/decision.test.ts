import { describe, expect, test } from 'vitest'
import { createSoftwareKey } from '../../src/client/software-authenticator.ts'
import { challengeOf } from '../../src/receipt/context.ts'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import { forgeAssertion, withCounter, withFlags, type Forgery } from '../receipt/forge-assertion.ts'
import { acme, ada, clock, service } from './acme.ts'
import { ask, ceremonyOf, createApprover, decide, enroll, post, show, signed } from './approver.ts'
import { minute } from './clock.ts'
import { auditOf, createTenant, dataOf, refusal, refusedWithoutTrace } from './fixtures.ts'

const asked = async (more: object = {}) => dataOf(await ask(service, ada, more, acme.key))
const shown = async (id: string) => dataOf(await show(service, id, acme.key))
const jwks = async () => (await service.call('GET', '/.well-known/jwks.json', { key: null })).body

const wrongFor = (number: string): string => (number === '10' ? '11' : '10')

const refusedOutright = (id: string, body: object) =>
  refusedWithoutTrace(service, () => post(service, id, body))

describe('a decision', () => {
  test.each(['ES256', 'EdDSA'] as const)(
    'by a %s key approves, and the receipt verifies with the key set alone',
    async (alg) => {
      const { key } = await enroll(service, acme.id, ada.id, alg)
      const { request_id } = await asked({ reason: 'release day', requester: 'CI' })
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

  test('denies with a receipt that does not pass for an approval', async () => {
    const { request_id } = await asked()
    const denied = dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
    expect(denied).toMatchObject({ status: 'denied', detail: null })
    const verify = (status?: 'denied') =>
      jwks().then((keys) => verifyReceipt(denied.attestation, keys, { status, allowDev: true }, clock.now()))
    expect((await verify()).valid).toBe(false)
    expect((await verify('denied')).valid).toBe(true)
  })

  test('is written down with the approver and the device', async () => {
    const { request_id } = await asked()
    await decide(service, request_id, ada.key)
    const rows = dataOf(await service.call('GET', `/svc/v1/audit?org_id=${acme.id}`))
    expect(rows.at(-1)).toMatchObject({
      action: 'decideApproval',
      actor: `user:${ada.id} (device ${ada.device})`,
      subject: `approval:${request_id}`,
      changes: ['status'],
    })
    const path = `/svc/v1/organizations/${acme.id}/users/${ada.id}/devices`
    expect(dataOf(await service.call('GET', path))[0].last_used_at).toBe(clock.iso())
  })

  test('is one: another is refused with what it came to', async () => {
    const { request_id } = await asked()
    const [approve, deny] = [
      await signed(service, request_id, 'approve', ada.key),
      await signed(service, request_id, 'deny', ada.key),
    ]
    dataOf(await post(service, request_id, { decision: 'deny', response: deny }))
    for (const [decision, response] of [
      ['deny', deny],
      ['approve', approve],
    ])
      expect(await refusedOutright(request_id, { decision, response })).toEqual([409, 'already_denied', []])
    expect((await shown(request_id)).status).toBe('denied')
  })

  test('of many at once is one, and the receipt is of that one', async () => {
    const { request_id } = await asked()
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
    const { request_id } = await asked()
    const body = { decision: 'approve', response: await signed(service, request_id, 'approve', ada.key) }
    const more = { headers: { 'idempotency-key': 'd1' } }
    const first = await post(service, request_id, body, more)
    expect((await post(service, request_id, body, more)).body).toEqual(first.body)
    expect((await post(service, request_id, body, more)).headers['idempotent-replayed']).toBe('true')
  })

  test('counts in the last millisecond and not in the one after', async () => {
    const [first, second] = [await asked(), await asked()]
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

  test('comes too late when the time ends between the check and the statement', async () => {
    const { request_id } = await asked()
    const response = await signed(service, request_id, 'approve', ada.key)
    clock.tick(5 * minute - 1)
    clock.tickAfterRead(1)
    const late = await post(service, request_id, { decision: 'approve', response })
    expect(refusal(late)).toEqual([410, 'expired', []])
    expect(await shown(request_id)).toMatchObject({ status: 'expired', attestation: null })
  })

  test('goes by the clock of the store, be it an hour off', async () => {
    const { request_id, expires_at } = await asked()
    expect(expires_at).toBe('2030-01-31T12:05:00.000Z')
    const response = await signed(service, request_id, 'approve', ada.key)
    clock.tick(60 * minute)
    expect(refusal(await post(service, request_id, { decision: 'approve', response }))[0]).toBe(410)
  })
})

/** An approval whose key says that it has signed so often. */
const counted = async (count: number, id: string) => {
  const { contexts, origin, rp_id } = await ceremonyOf(service, id)
  const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
  const response = forgeAssertion(ada.key, { challenge, origin, rpId: rp_id }, { data: withCounter(count) })
  return { decision: 'approve', response }
}

describe('an assertion that does not count', () => {
  const refused = [403, 'assertion_refused', []]

  test.each<[string, Forgery]>([
    ['without user verification', { data: withFlags(1) }],
    ['without user presence', { data: withFlags(4) }],
    ['of another type', { client: { type: 'webauthn.create' } }],
    ['of another origin', { client: { origin: 'http://localhost:9' } }],
    ['of another site', { client: { origin: 'https://evil.example' } }],
    ['from a framed page', { client: { crossOrigin: true } }],
    ['with another challenge', { client: { challenge: 'Y2hhbGxlbmdl' } }],
  ])('%s decides nothing', async (_, forgery) => {
    const { request_id } = await asked()
    const { contexts, origin, rp_id } = await ceremonyOf(service, request_id)
    const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
    const response = forgeAssertion(ada.key, { challenge, origin, rpId: rp_id }, forgery)
    expect(await refusedOutright(request_id, { decision: 'approve', response })).toEqual(refused)
  })

  test('is one that was made for a denial, for another request, or changed by a bit', async () => {
    const [first, second] = [await asked(), await asked()]
    const approve = await signed(service, first.request_id, 'approve', ada.key)
    const deny = await signed(service, first.request_id, 'deny', ada.key)
    const id = second.request_id
    expect(await refusedOutright(id, { decision: 'approve', response: approve })).toEqual(refused)
    const denied = { decision: 'approve', response: deny }
    expect(await refusedOutright(first.request_id, denied)).toEqual(refused)
    const bytes = Buffer.from(approve.response.signature, 'base64url')
    bytes[bytes.length - 1]! ^= 1
    const signature = bytes.toString('base64url')
    const changed = { ...approve, response: { ...approve.response, signature } }
    expect(await refusedOutright(first.request_id, { decision: 'approve', response: changed })).toEqual(
      refused,
    )
  })

  test('is one of a key that is not of this approver, and says no more than that', async () => {
    const bob = await createApprover(service, acme.id, 2)
    const other = await createTenant(service, 'other')
    const eve = await createApprover(service, other.id, 1)
    const { request_id } = await asked()
    const stranger = createSoftwareKey('ES256', { rpId: 'localhost' })
    for (const key of [bob.key, eve.key, stranger]) {
      const response = await signed(service, request_id, 'approve', key)
      expect(await refusedOutright(request_id, { decision: 'approve', response })).toEqual([
        404,
        'not_found',
        [],
      ])
    }
    const response = await signed(service, request_id, 'approve', ada.key)
    expect(await refusedOutright('apr_unknown', { decision: 'approve', response })).toEqual([
      404,
      'not_found',
      [],
    ])
  })

  test.each([
    ['no object', 'x'],
    ['an empty object', {}],
    ['nothing inside', { id: 'x', response: {} }],
  ])('is refused with %s', async (_, response) => {
    const { request_id } = await asked()
    const [status] = await refusedOutright(request_id, { decision: 'approve', response })
    expect([404, 422]).toContain(status)
  })

  test('is one whose counter does not go on', async () => {
    const [first, second, third] = [await asked(), await asked(), await asked()]
    dataOf(await post(service, first.request_id, await counted(7, first.request_id)))
    for (const count of [7, 6, 0])
      expect(await refusedOutright(second.request_id, await counted(count, second.request_id))).toEqual(
        refused,
      )
    // Both are verified before either is written: only one of them may count.
    const both = [await counted(8, second.request_id), await counted(8, third.request_id)]
    const answers = await Promise.all([
      post(service, second.request_id, both[0]!),
      post(service, third.request_id, both[1]!),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403])
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
      () => service.call('DELETE', '/svc/v1/keys/2'),
      [403, 'requester_revoked'],
    ],
  ]

  test.each(cases)('%s', async (_, change, [status, code]) => {
    const { request_id } = await asked()
    const response = await signed(service, request_id, 'approve', ada.key)
    expect((await change()) as object).toMatchObject({ status: 200 })
    expect(await refusedOutright(request_id, { decision: 'approve', response })).toEqual([status, code, []])
  })

  // The check of the statement itself: all was well when the assertion was verified.
  test.each(cases)('%s, between the check and the statement', async (_, change, [status, code]) => {
    const { request_id } = await asked()
    const response = await signed(service, request_id, 'approve', ada.key)
    const answers = await Promise.all([
      change(),
      post(service, request_id, { decision: 'approve', response }),
    ])
    expect(refusal(answers[1])).toEqual([status, code, []])
  })
})

describe('the number', () => {
  test('must be typed, and is in the receipt as matched', async () => {
    const { request_id, number } = await asked({ number: true })
    expect((await ceremonyOf(service, request_id)).number_required).toBe(true)
    const missing = await decide(service, request_id, ada.key)
    expect(refusal(missing)).toEqual([422, 'invalid_field', ['number']])
    const approved = dataOf(await decide(service, request_id, ada.key, { decision: 'approve', number }))
    expect(approved.attestation.claims.number_matched).toBe(true)
    expect(approved.number).toBeNull()
  })

  test('may be wrong once', async () => {
    const { request_id, number } = await asked({ number: true })
    const wrong = { decision: 'approve', number: wrongFor(number) } as const
    expect(refusal(await decide(service, request_id, ada.key, wrong))).toEqual([
      422,
      'wrong_number',
      ['number'],
    ])
    expect((await shown(request_id)).status).toBe('pending')
    expect((await auditOf(service, acme.id)).at(-1)![2]).toEqual(['number_tries'])
    dataOf(await decide(service, request_id, ada.key, { decision: 'approve', number }))
  })

  test('wrong twice denies, by the service and without a receipt', async () => {
    const { request_id, number } = await asked({ number: true })
    const wrong = { decision: 'approve', number: wrongFor(number) } as const
    await decide(service, request_id, ada.key, wrong)
    expect(refusal(await decide(service, request_id, ada.key, wrong))).toEqual([403, 'denied', []])
    expect(await shown(request_id)).toMatchObject({
      status: 'denied',
      detail: 'denied by the service: a wrong number was typed twice',
      ruling: null,
      attestation: null,
    })
  })

  test('is not tried by who has not signed', async () => {
    const { request_id, number } = await asked({ number: true })
    const response = await signed(service, request_id, 'approve', ada.key, false)
    const body = { decision: 'approve', response, number: wrongFor(number) }
    for (let i = 0; i < 3; i++) expect((await refusedOutright(request_id, body))[0]).toBe(403)
  })

  test('is not needed to deny', async () => {
    const { request_id } = await asked({ number: true })
    const denied = dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
    expect(denied.attestation.claims.number_matched).toBe(false)
  })
})

describe('"this was not me"', () => {
  test('denies and mutes that key for that approver, for twenty minutes', async () => {
    const bob = await createApprover(service, acme.id, 2)
    const { request_id } = await asked()
    const denied = await decide(service, request_id, ada.key, { decision: 'deny', not_me: true })
    expect(dataOf(denied)).toMatchObject({
      status: 'denied',
      detail: 'the approver did not expect this request',
    })
    expect((await auditOf(service, acme.id)).at(-1)![2]).toEqual(['status', 'not_me'])
    const muted = await ask(service, ada, {}, acme.key)
    expect([refusal(muted), muted.headers['retry-after']]).toEqual([[429, 'muted', []], '1200'])
    dataOf(await ask(service, ada))
    dataOf(await ask(service, bob, {}, acme.key))
    clock.tick(20 * minute)
    await asked()
  })

  test('goes with a denial only', async () => {
    const { request_id } = await asked()
    const answer = await decide(service, request_id, ada.key, { decision: 'approve', not_me: true })
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['not_me']])
  })
})

describe('a software key', () => {
  test('decides nothing where the service does not run with --dev', async () => {
    const { request_id } = await asked()
    const response = await signed(service, request_id, 'approve', ada.key)
    service.service.dev = false
    expect(await refusedOutright(request_id, { decision: 'approve', response })).toEqual([
      403,
      'software_not_allowed',
      [],
    ])
    expect(refusal(await ask(service, ada))).toEqual([409, 'approver_not_enrolled', []])
  })
})
