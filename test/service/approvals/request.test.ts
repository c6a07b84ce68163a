import { describe, expect, test } from 'vitest'
import { digestOf } from '../../../src/receipt/subject.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, createApprover, show } from '../approver.ts'
import { auditOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { newRequest, withdraw, list, statusOf } from './requested.ts'

installHooks()

/** Nothing was added and no phone rang. */
const refusedOutright = async (answer: Promise<Answer>): Promise<[number, string, string[]]> => {
  const before = service.notified.length
  const said = refusal(await answer)
  expect([await list(), service.notified.length]).toEqual([[], before])
  return said
}

const askWithKey = () =>
  service.call('POST', '/svc/v1/approvals', {
    key: acme.key,
    body: { action: 'Deploy', approvers: [ada.mobile], number: true },
    headers: { 'idempotency-key': 'k1' },
  })

describe('a request for approval', () => {
  test.each(['pay 10\u202e001', 'de\u200bploy', 'a\u0000b', 'beep\u0007'])(
    'holds nothing that the approver could not see: %j',
    async (action) => {
      const { status, body } = await ask(service, ada, { action }, acme.key)
      expect([status, body.data.issues[0].field]).toEqual([422, 'action'])
    },
  )
  test('is pending, is complete, and notifies once', async () => {
    const action = '  Deploy 4.2  to\nproduction \u{1f469}\u200d\u{1f680} '
    const record = dataOf(await ask(service, ada, { action, reason: 'release day' }, acme.key))
    expect(record).toEqual({
      request_id: expect.stringMatching(/^apr_[\w-]{24}$/),
      org_id: acme.id,
      status: 'pending',
      action,
      reason: 'release day',
      requester: 'of acme',
      verified_as: 'key "of acme"',
      approver_mobile: '+12025550101',
      lines: [
        {
          group: null,
          need: 1,
          rules: [],
          people: [
            {
              user_id: ada.id,
              name: 'Ada Lovelace',
              mobile: '••••••••0101',
              answer: 'pending',
              answered_at: null,
            },
          ],
        },
      ],
      rules: [],
      factors: ['biometric'],
      number: null,
      detail: null,
      requested_at: clock.iso(),
      expires_at: '2030-01-31T12:05:00.000Z',
      decided_at: null,
      ruling: null,
      attestation: null,
      subject: {
        type: 'text',
        data: { text: action },
        digest: digestOf({ text: action }),
        summary: action,
        fields: [],
      },
      use_by: null,
      used_at: null,
    })
    expect(dataOf(await show(service, record.request_id, acme.key))).toEqual(record)
    expect(service.notified).toEqual([
      { request_id: record.request_id, org_id: acme.id, user_id: Number(ada.id) },
    ])
  })

  test('accepts any spelling of the phone, and lives as long as requested', async () => {
    const approvers = ['+1 (202) 555-0101']
    const record = dataOf(await ask(service, ada, { approvers, lifetime_s: 3600, requester: 'CI' }))
    expect(record).toMatchObject({ approver_mobile: '+12025550101', requester: 'CI' })
    expect(record.expires_at).toBe('2030-01-31T13:00:00.000Z')
  })

  test('is audited without its text', async () => {
    const id = await newRequest({ reason: 'secret reason' })
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'createApproval',
      `approval:${id}`,
      ['action', 'approvers', 'reason'],
    ])
    const audit = JSON.stringify(dataOf(await service.call('GET', `/svc/v1/audit?org_id=${acme.id}`)))
    expect(audit).not.toMatch(/Deploy|secret reason|2025550101/)
  })

  test.each([
    ['nobody', { approvers: undefined }, 'approvers'],
    ['a phone without a prefix', { approvers: ['2025550101'] }, 'approvers[0]'],
    ['an empty action', { action: '' }, 'action'],
    ['a blank action', { action: ' \n' }, 'action'],
    ['an action of 501 characters', { action: 'x'.repeat(501) }, 'action'],
    ['an action of 100 KB', { action: 'x'.repeat(100_000) }, 'action'],
    ['NUL in the action', { action: 'a\0b' }, 'action'],
    ['half a character in the reason', { reason: 'a\ud800b' }, 'reason'],
    ['an unknown factor', { factors: ['retina'] }, 'factors[0]'],
    ['a location without a fence', { factors: ['location'] }, 'factors'],
    ['a time without a slot', { factors: ['biometric', 'time'] }, 'factors'],
    ['no time at all', { lifetime_s: 0 }, 'lifetime_s'],
    ['a lifetime of 1e9', { lifetime_s: 1e9 }, 'lifetime_s'],
    ['a field that nobody knows', { urgent: true }, 'urgent'],
  ])('with %s is refused by the name of the field', async (_, more, field) => {
    expect(await refusedOutright(ask(service, ada, more))).toEqual([422, 'invalid_field', [field]])
  })

  test('for an unknown phone gets the same answer as for a phone without a device', async () => {
    const bob = await createMember(service, acme.id, 2)
    const [unknown, unenrolled] = [
      await ask(service, { mobile: '+12025550199' }, {}, acme.key),
      await ask(service, bob, {}, acme.key),
    ]
    expect(unknown.body).toEqual(unenrolled.body)
    expect(await refusedOutright(Promise.resolve(unknown))).toEqual([409, 'approver_not_enrolled', []])
    expect(unknown.body.data.hint).toContain('svc user enroll')
  })

  test.each([
    ['is on hold', (id: string) => [`user/${id}/pending`, {}] as const],
    ['was removed', (id: string) => ['remove/user', { org_id: acme.id, user_id: id }] as const],
  ])('to who %s rings nobody', async (_, move) => {
    const [path, body] = move(ada.id)
    const at = path.startsWith('user') ? `/organization/${acme.id}/${path}` : `/organization/${path}`
    dataOf(await service.call('POST', at, { body }))
    expect(await refusedOutright(ask(service, ada))).toEqual([409, 'approver_not_enrolled', []])
  })

  test('for a revoked device notifies nobody', async () => {
    await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`)
    expect(await refusedOutright(ask(service, ada))).toEqual([409, 'approver_not_enrolled', []])
  })

  test('from an operator requires the organization if the approver is in several', async () => {
    const other = await createTenant(service, 'other')
    await createApprover(service, other.id, 1)
    expect(await refusedOutright(ask(service, ada))).toEqual([422, 'invalid_field', ['org_id']])
    expect(await refusedOutright(ask(service, ada, { org_id: 99 }))).toEqual([404, 'not_found', []])
    expect(dataOf(await ask(service, ada, { org_id: other.id })).org_id).toBe(other.id)
    expect(dataOf(await ask(service, ada, {}, acme.key)).org_id).toBe(acme.id)
  })

  test.each(['active', 'pending'])(
    'from an operator requires it also if only another organization gave the approver a phone: %s',
    async (state) => {
      const { id } = await createMember(service, acme.id, 9)
      await service.runSql('UPDATE memberships SET state = ? WHERE user_id = ?', [state, Number(id)])
      const other = await createTenant(service, 'other')
      const grace = await createApprover(service, other.id, 9)
      expect(await refusedOutright(ask(service, grace))).toEqual([422, 'invalid_field', ['org_id']])
    },
  )

  test('with the same Idempotency-Key is the same request, and notifies once', async () => {
    const first = await askWithKey()
    expect((await askWithKey()).body).toEqual(first.body)
    expect(service.notified).toHaveLength(1)
    expect(await newRequest()).not.toBe(dataOf(first).request_id)
  })
})

describe('the number', () => {
  test('is shown to the requesting key only', async () => {
    const record = dataOf(await ask(service, ada, { number: true }, acme.key))
    expect(record.number).toMatch(/^[1-9]\d$/)
    expect(dataOf(await show(service, record.request_id, acme.key)).number).toBe(record.number)
    expect(dataOf(await show(service, record.request_id)).number).toBeNull()
    expect(await list()).toMatchObject([{ number: null }])
  })

  test('is required if the policy says so', async () => {
    const body = { policy: { require_number: true } }
    await service.call('PUT', `/organization/${acme.id}/update`, { body })
    expect(dataOf(await ask(service, ada)).number).toMatch(/^[1-9]\d$/)
  })
})

const ids = async (query: string) =>
  (await list(query, acme.key)).map((row: { request_id: string }) => row.request_id)

describe('the list', () => {
  test('contains pending and past requests, filtered by state or phone', async () => {
    const bob = await createApprover(service, acme.id, 2)
    const [first, second] = [await newRequest(), dataOf(await ask(service, bob, {}, acme.key)).request_id]
    await withdraw(first)
    expect(await ids('')).toEqual([second, first])
    expect(await ids('?status=pending')).toEqual([second])
    expect(await ids('?status=expired')).toEqual([first])
    expect(await ids('?approver_mobile=%2B1%20202%20555%200101')).toEqual([first])
    expect(await ids('?limit=1')).toEqual([second])
  })

  test("contains only requests of the key's own organization", async () => {
    const other = await createTenant(service, 'other')
    const id = await newRequest()
    expect(await list('', other.key)).toEqual([])
    for (const answer of [await show(service, id, other.key), await withdraw(id, other.key)])
      expect(refusal(answer)).toEqual([404, 'not_found', []])
    expect(await statusOf(id)).toEqual(['pending', null])
  })
})
