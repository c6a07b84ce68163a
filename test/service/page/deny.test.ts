import { describe, expect, test } from 'vitest'
import { assert } from '../../../src/client/software-authenticator.ts'
import { challengeOf } from '../../../src/receipt/context.ts'
import { post } from '../approver.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { deny, mutes, outcomeOf, pending, request, statusOf } from './denials.ts'
import { answerTo, createPhone, fromPhone, site, type Phone } from './phone.ts'
import { acme, ada, installHooks, service } from './visit.ts'

installHooks()

const denyAll = async (ids: string[], { by = ada, signed = ids }: { by?: Phone; signed?: string[] } = {}) => {
  const { cookie, key } = by
  const { challenge } = dataOf(
    await fromPhone(service, 'POST', 'denials/challenge', { cookie, body: { request_ids: signed } }),
  )
  const body = { request_ids: ids, challenge, response: answerTo(challenge, key) }
  return fromPhone(service, 'POST', 'denials', { cookie, body })
}

describe('denying several requests with one check', () => {
  test('denies exactly those that were signed, without receipts', async () => {
    const ids = [await request(), await request()]
    const other = await request()
    expect(dataOf(await denyAll(ids))).toEqual({ denied: ids })
    for (const id of ids) {
      expect(await statusOf(id)).toMatchObject({
        status: 'denied',
        detail: 'denied with one signature for several requests of this requester; there is no receipt',
        attestation: null,
      })
      expect(await outcomeOf(id)).toMatchObject({ ended_by: 'person', device: { id: ada.device } })
    }
    expect(await statusOf(other)).toMatchObject({ status: 'pending' })
    expect(await mutes()).toEqual([])
  })

  test('leaves what has ended as it is', async () => {
    const ids = [await request(), await request()]
    await service.call('POST', `/svc/v1/approvals/${ids[0]}/withdraw`, { key: acme.key, body: {} })
    expect(dataOf(await denyAll(ids))).toEqual({ denied: [ids[1]] })
    expect(await statusOf(ids[0]!)).toMatchObject({ status: 'expired' })
  })

  test('answers the same once more, to a page that did not get the answer', async () => {
    const ids = [await request(), await request()]
    for (let n = 0; n < 2; n++) expect(dataOf(await denyAll(ids)).denied.toSorted()).toEqual(ids.toSorted())
    const rows = await auditOf(service, acme.id)
    expect(rows.filter(([, , changes]) => changes.includes('denied'))).toHaveLength(2)
  })

  test('does not reach requests to somebody else, or requests that were not signed', async () => {
    const id = await request()
    const bob = await createPhone(service, acme.id, 2)
    expect(dataOf(await denyAll([id], { by: bob }))).toEqual({ denied: [] })
    const later = await request()
    expect(refusal(await denyAll([id, later], { signed: [id] }))[0]).toBe(410)
    expect(await pending()).toHaveLength(2)
  })
})

const touchToDeny = (id: string, more: object = {}) => deny(id, more, false)
const setCheck = async (deny_check: string): Promise<void> =>
  dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy: { deny_check } } }))

describe('a denial from a device that was only touched', () => {
  test.each([undefined, 'verification'])('is refused unless the policy allows it: %s', async (check) => {
    if (check !== undefined) await setCheck(check)
    const id = await request()
    expect(refusal(await touchToDeny(id))).toEqual([403, 'assertion_refused', []])
    expect(await statusOf(id)).toMatchObject({ status: 'pending' })
  })

  test('counts where the policy allows it, and its receipt says so', async () => {
    await setCheck('presence')
    const id = await request()
    expect(await pending()).toMatchObject([{ deny_check: 'presence' }])
    const { status, attestation, ruling } = dataOf(await touchToDeny(id))
    expect([status, attestation.claims.amr]).toEqual(['denied', ['hwk', 'user']])
    expect(ruling).toMatchObject([{ factor: 'biometric', result: 'FAIL' }])
  })

  test('is not enough for "this wasn’t me", for an approval, or for the session', async () => {
    await setCheck('presence')
    const id = await request()
    expect(refusal(await touchToDeny(id, { not_me: true }))[1]).toBe('assertion_refused')
    const [{ contexts }] = (await pending()) as never as [{ contexts: { approve: string } }]
    const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
    const response = assert(ada.key, { challenge, ...site }, false)
    expect(refusal(await post(service, id, { decision: 'approve', response }))[1]).toBe('assertion_refused')
    const { cookie } = ada
    const unsigned = await service.call('POST', `/svc/v1/approvals/${id}/decide`, {
      key: null,
      body: { decision: 'deny' },
      headers: { cookie },
    })
    expect(unsigned.status).toBe(422)
    expect(await statusOf(id)).toMatchObject({ status: 'pending' })
  })
})
