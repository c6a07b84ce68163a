import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { decide } from '../approver.ts'
import { minute } from '../clock.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { asked, cancel, list, statusOf } from './requested.ts'

installHooks()

describe('a cancelled request', () => {
  test('ends as expired, says who cancelled, and is decided no more', async () => {
    const id = await asked()
    expect(dataOf(await cancel(id, acme.key))).toMatchObject({
      status: 'expired',
      detail: 'cancelled by the requester',
    })
    expect(refusal(await cancel(id))).toEqual([410, 'expired', []])
    expect(refusal(await service.call('GET', `/svc/v1/approvals/${id}/ceremony`))[0]).toBe(410)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['cancelApproval', `approval:${id}`, ['status']])
  })

  test('is not one that was decided', async () => {
    const id = await asked()
    dataOf(await decide(service, id, ada.key))
    expect(refusal(await cancel(id))).toEqual([409, 'already_approved', []])
    expect((await statusOf(id))[0]).toBe('approved')
  })
})

describe('the end of the time', () => {
  test('shows at once, is written down by the service, and is for ever', async () => {
    const id = await asked()
    clock.tick(5 * minute - 1)
    expect(await statusOf(id)).toEqual(['pending', null])
    clock.tick(1)
    expect(await statusOf(id)).toEqual(['expired', 'nobody decided in time'])
    clock.tick(-60 * minute)
    expect(await statusOf(id)).toEqual(['expired', 'nobody decided in time'])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['expireApproval', `approval:${id}`, ['status']])
  })

  test('shows in lists, and to who cancels too late', async () => {
    const first = await asked()
    clock.tick(2 * minute)
    const other = await asked()
    clock.tick(3 * minute)
    expect(refusal(await cancel(first))).toEqual([410, 'expired', []])
    expect(await list('?status=pending')).toMatchObject([{ request_id: other }])
    clock.tick(2 * minute)
    expect(await list('?status=pending')).toEqual([])
    expect(await list('?status=expired')).toHaveLength(2)
  })

  test('does not change what was decided', async () => {
    const id = await asked()
    dataOf(await decide(service, id, ada.key))
    clock.tick(60 * minute)
    expect((await statusOf(id))[0]).toBe('approved')
  })
})
