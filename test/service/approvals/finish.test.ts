import { describe, expect, test } from 'vitest'
import { sweep } from '../../../src/service/approvals/expiry.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { decide } from '../approver.ts'
import { minute } from '../clock.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { newRequest, withdraw, list, statusOf } from './requested.ts'

installHooks()

describe('a cancelled request', () => {
  test('ends as expired, says who cancelled it, and cannot be decided any more', async () => {
    const id = await newRequest()
    expect(dataOf(await withdraw(id, acme.key))).toMatchObject({
      status: 'expired',
      detail: 'withdrawn by the requester',
    })
    expect(refusal(await withdraw(id))).toEqual([410, 'expired', []])
    expect(refusal(await service.call('GET', `/svc/v1/approvals/${id}/ceremony`))[0]).toBe(410)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'withdrawApproval',
      `approval:${id}`,
      ['status', 'withdrawn'],
    ])
  })

  test('has its own place among those that have expired', async () => {
    const [withdrawn, late] = [await newRequest(), await newRequest()]
    dataOf(await withdraw(withdrawn, acme.key))
    clock.tick(5 * minute)
    expect(await list('?status=withdrawn')).toMatchObject([{ request_id: withdrawn, status: 'expired' }])
    const expired = await list('?status=expired')
    expect(expired.map((one: { request_id: string }) => one.request_id).toSorted()).toEqual(
      [withdrawn, late].toSorted(),
    )
  })

  test('must not be one that was decided', async () => {
    const id = await newRequest()
    dataOf(await decide(service, id, ada.key))
    expect(refusal(await withdraw(id))).toEqual([409, 'already_approved', []])
    expect((await statusOf(id))[0]).toBe('approved')
  })
})

describe('a request whose key has ended', () => {
  const detail = 'the API key of the requester was revoked or has expired'

  test('ends with the revoked key: no approver sees it, and waiting callers return', async () => {
    const id = await newRequest()
    const other = await newRequest({}, service.operatorKey)
    const waiting = service.call('GET', `/svc/v1/approvals/${id}?wait_s=20`, { key: acme.key })
    dataOf(await service.call('DELETE', `/svc/v1/keys/${acme.keyId}`))
    expect((await waiting).status).toBe(401)
    expect(await statusOf(id)).toEqual(['expired', detail])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['expireApproval', `approval:${id}`, ['status']])
    expect(await list('?status=pending')).toMatchObject([{ request_id: other }])
    const refused = await service.call('GET', `/svc/v1/approvals/${id}/ceremony`)
    expect(refused).toMatchObject({ status: 410, body: { message: `The request has ended: ${detail}` } })
  })

  test('ends with a rotated key once its overlap is over', async () => {
    const id = await newRequest()
    dataOf(await service.call('POST', `/svc/v1/keys/${acme.keyId}/rotate`, { body: { overlap_s: 60 } }))
    clock.tick(minute - 1)
    expect(await list('?status=pending')).toHaveLength(1)
    clock.tick(1)
    await sweep(service.service)
    expect(await statusOf(id)).toEqual(['expired', detail])
  })
})

describe('an expiry', () => {
  test('shows immediately, is audited, and is final', async () => {
    const id = await newRequest()
    clock.tick(5 * minute - 1)
    expect(await statusOf(id)).toEqual(['pending', null])
    clock.tick(1)
    expect(await statusOf(id)).toEqual(['expired', 'no decision in time'])
    clock.tick(-60 * minute)
    expect(await statusOf(id)).toEqual(['expired', 'no decision in time'])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['expireApproval', `approval:${id}`, ['status']])
  })

  test('shows in lists, and in the answer to a late cancel', async () => {
    const first = await newRequest()
    clock.tick(2 * minute)
    const other = await newRequest()
    clock.tick(3 * minute)
    expect(refusal(await withdraw(first))).toEqual([410, 'expired', []])
    expect(await list('?status=pending')).toMatchObject([{ request_id: other }])
    clock.tick(2 * minute)
    expect(await list('?status=pending')).toEqual([])
    expect(await list('?status=expired')).toHaveLength(2)
  })

  test('does not change a decision', async () => {
    const id = await newRequest()
    dataOf(await decide(service, id, ada.key))
    clock.tick(60 * minute)
    expect((await statusOf(id))[0]).toBe('approved')
  })
})
