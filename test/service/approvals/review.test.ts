import { beforeEach, describe, expect, test } from 'vitest'
import { decide, show } from '../approver.ts'
import { auditOf, dataOf, refusal, refusedWithoutTrace, twinText } from '../fixtures.ts'
import type { Phone } from '../page/phone.ts'
import {
  acme,
  ada,
  asks,
  bob,
  breakGlass,
  carol,
  dave,
  grace,
  installHooks,
  reason,
  service,
  terminalOf,
} from './break-glass-stage.ts'
import { command } from './command-subject.ts'

installHooks()

let id: string
beforeEach(async () => {
  id = dataOf(await breakGlass()).request_id
})

const review = (key: string, body: object = { ok: true }, headers?: Record<string, string>) =>
  service.call('POST', `/svc/v1/approvals/${id}/review`, { key, headers, body })
const approved = async () => dataOf(await decide(service, id, dave.key))

/** From a terminal, with the yes of whoever is signed in there. */
const reviewed = async (phone: Phone, body?: object) => {
  const key = await terminalOf(phone)
  const held = await review(key, body)
  expect([held.status, held.body.data.code]).toEqual([403, 'approval_required'])
  const { request_id } = held.body.data.request
  dataOf(await decide(service, request_id, phone.key))
  return review(key, body, { 'x-svc-approval': request_id })
}

describe('a review', () => {
  test('is signed by one of those whom nobody asked, once, and told to the others', async () => {
    await approved()
    const note = 'It could have waited'
    const record = dataOf(await reviewed(carol, { dispute: true, note }))
    expect(record.break_glass.review).toMatchObject({ by: carol.user, verdict: 'disputed', note })
    expect(dataOf(await show(service, id)).break_glass.review).toEqual(record.break_glass.review)
    const told = (await service.messages()).filter(({ text }) => text.includes('reviewed the emergency'))
    expect(told.map(({ to }) => to).toSorted()).toEqual([1, 2, 5].map((n) => `user${n}@acme.example`))
    expect(refusal(await review(await terminalOf(bob)))).toEqual([409, 'already_reviewed', []])
    const row = (await auditOf(service, acme.id)).find(([action]) => action === 'reviewApproval')
    expect(row![2]).toEqual(expect.arrayContaining(['review', 'disputed']))
  })

  test('says on the phone of the reviewer what was signed, in no words of the requester', async () => {
    dataOf(await service.call('POST', `/svc/v1/approvals/${id}/withdraw`, { key: asks, body: {} }))
    id = dataOf(await breakGlass({ action: 'Restart the web server' })).request_id
    await approved()
    const { request } = (await review(await terminalOf(bob))).body.data
    const { subject } = dataOf(await show(service, request.request_id))
    expect(subject.summary).toBe('Review approval in acme: Run terraform destroy')
    expect(subject.data.body).toMatchObject({
      working_directory: '/srv/prod',
      program: '/usr/bin/terraform',
      broken_by: twinText(ada.user),
      reason_of_the_break_glass: reason,
      approved_by: twinText(dave.user),
    })
  })

  test('lets the person who broke the glass do it again', async () => {
    await approved()
    expect(refusal(await breakGlass())).toEqual([409, 'break_glass_unreviewed', []])
    dataOf(await reviewed(bob))
    dataOf(await breakGlass())
  })

  test('leaves the receipt and the use of the approval as they are', async () => {
    const { attestation, subject } = await approved()
    const record = dataOf(await reviewed(bob))
    expect(record.attestation).toEqual(attestation)
    expect(record.subject.digest).toBe(subject.digest)
  })
})

describe('no review', () => {
  test('is possible for the requester, whoever approved it, and others who were told', async () => {
    await approved()
    for (const phone of [ada, dave, grace]) {
      const key = await terminalOf(phone)
      expect(await refusedWithoutTrace(service, () => review(key))).toEqual([403, 'not_your_review', []])
    }
  })

  test('is known to somebody who was not told', async () => {
    id = dataOf(
      await service.call('POST', '/svc/v1/approvals', {
        key: asks,
        body: { subject: command('terraform', 'plan') },
      }),
    ).request_id
    expect(refusal(await review(await terminalOf(bob)))).toEqual([404, 'not_found', []])
  })

  test('disputes without a note', async () => {
    await approved()
    expect(refusal(await review(await terminalOf(bob), { dispute: true }))).toEqual([
      422,
      'invalid_field',
      ['note'],
    ])
  })

  test('is possible with a key at which nobody is signed in', async () => {
    await approved()
    expect(refusal(await review(acme.key))).toEqual([403, 'not_signed_in', []])
  })

  test('is possible before the emergency was approved', async () => {
    expect(refusal(await review(await terminalOf(bob)))).toEqual([409, 'nothing_to_review', []])
  })

  test('is asked for in words that another program wrote', async () => {
    await approved()
    service.runSql(`UPDATE approvals SET subject_digest = 'other' WHERE request_id = '${id}'`)
    expect(refusal(await review(await terminalOf(bob)))).toEqual([409, 'nothing_to_review', []])
  })

  test.each([[{}], [{ ok: true, dispute: true }], [{ ok: false }]])(
    'says both or nothing: %j',
    async (body) => {
      await approved()
      expect(refusal(await review(await terminalOf(bob), body))).toEqual([422, 'invalid_field', ['ok']])
    },
  )
})
