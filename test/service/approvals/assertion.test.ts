import { describe, expect, test } from 'vitest'
import { createSoftwareKey } from '../../../src/client/software-authenticator.ts'
import { challengeOf } from '../../../src/receipt/context.ts'
import { forgeAssertion, withFlags, type Forgery } from '../../receipt/forge-assertion.ts'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { ask, ceremonyOf, counted as countedBy, createApprover, post, signed } from '../approver.ts'
import { createTenant, dataOf, refusal } from '../fixtures.ts'
import { newRequest, refusedOutright } from './decided.ts'

installHooks()

const counted = (count: number, id: string) => countedBy(service, ada.key, count, id)

describe('an assertion that is refused', () => {
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
    const { request_id } = await newRequest()
    const { contexts, origin, rp_id } = await ceremonyOf(service, request_id)
    const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
    const response = forgeAssertion(ada.key, { challenge, origin, rpId: rp_id }, forgery)
    expect(await refusedOutright(request_id, { decision: 'approve', response })).toEqual(refused)
  })

  test('is for a denial, for another request, or has one bit changed', async () => {
    const [first, second] = [await newRequest(), await newRequest()]
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

  test('is from a key of another person, and the answer reveals nothing else', async () => {
    const bob = await createApprover(service, acme.id, 2)
    const other = await createTenant(service, 'other')
    const eve = await createApprover(service, other.id, 1)
    const { request_id } = await newRequest()
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
    const { request_id } = await newRequest()
    const [status] = await refusedOutright(request_id, { decision: 'approve', response })
    expect([404, 422]).toContain(status)
  })

  test('has a counter that did not increase', async () => {
    const [first, second, third] = [await newRequest(), await newRequest(), await newRequest()]
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

describe('a software key', () => {
  test('cannot decide unless the service runs with --dev', async () => {
    const { request_id } = await newRequest()
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
