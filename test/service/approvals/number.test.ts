import { describe, expect, test } from 'vitest'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { ceremonyOf, decide, signed } from '../approver.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { newRequest, refusedOutright, shown } from './decided.ts'

installHooks()

const wrongFor = (number: string): string => (number === '10' ? '11' : '10')

describe('the number', () => {
  test('must be typed, and is in the receipt as matched', async () => {
    const { request_id, number } = await newRequest({ number: true })
    expect((await ceremonyOf(service, request_id)).number_required).toBe(true)
    const missing = await decide(service, request_id, ada.key)
    expect(refusal(missing)).toEqual([422, 'invalid_field', ['number']])
    const approved = dataOf(await decide(service, request_id, ada.key, { decision: 'approve', number }))
    expect(approved.attestation.claims.number_matched).toBe(true)
    expect(approved.number).toBeNull()
  })

  test('may be wrong once', async () => {
    const { request_id, number } = await newRequest({ number: true })
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
    const { request_id, number } = await newRequest({ number: true })
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

  test('wrong twice denies, although another program takes the first attempt back', async () => {
    const { request_id, number } = await newRequest({ number: true })
    const wrong = { decision: 'approve', number: wrongFor(number) } as const
    await decide(service, request_id, ada.key, wrong)
    await service.runSql('UPDATE ballots SET number_tries = 0')
    expect(refusal(await decide(service, request_id, ada.key, wrong))).toEqual([403, 'denied', []])
  })

  test('is not tried by who has not signed', async () => {
    const { request_id, number } = await newRequest({ number: true })
    const response = await signed(service, request_id, 'approve', ada.key, { userVerified: false })
    const body = { decision: 'approve', response, number: wrongFor(number) }
    for (let i = 0; i < 3; i++) expect((await refusedOutright(request_id, body))[0]).toBe(403)
  })

  test('is not required to deny', async () => {
    const { request_id } = await newRequest({ number: true })
    const denied = dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
    expect(denied.attestation.claims.number_matched).toBe(false)
  })
})
