import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { decide } from '../approver.ts'
import { minute } from '../clock.ts'
import { auditOf, createTenant, dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { newRequest, shown } from './decided.ts'

installHooks()

type Asked = { id: string; digest: string }

const request = async (more: object = {}): Promise<Asked> => {
  const { request_id, subject } = await newRequest(more)
  return { id: request_id, digest: subject.digest }
}
const approved = async (more: object = {}): Promise<Asked> => {
  const made = await request(more)
  dataOf(await decide(service, made.id, ada.key))
  return made
}
const consume = ({ id, digest }: Asked, key = acme.key) =>
  service.call('POST', `/svc/v1/approvals/${id}/consume`, { key, body: { digest } })
const refused = (made: Asked, key?: string) => refusedWithoutTrace(service, () => consume(made, key))
const keyFor = async (body: object) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name: 'other', ...body } })).key as string

describe('using an approval', () => {
  test('works once, and is audited', async () => {
    const made = await approved()
    expect(await shown(made.id)).toMatchObject({ used_at: null, use_by: '2030-01-31T12:10:00.000Z' })
    clock.tick(minute)
    expect(dataOf(await consume(made))).toMatchObject({ status: 'approved', used_at: clock.iso() })
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'consumeApproval',
      `approval:${made.id}`,
      ['used_at'],
    ])
    expect(await refused(made)).toEqual([409, 'already_used', []])
    expect((await shown(made.id)).used_at).not.toBeNull()
  })

  test('for something else is refused, and does not use it up', async () => {
    const made = await approved()
    expect(await refused({ ...made, digest: 'a'.repeat(64) })).toEqual([422, 'other_subject', ['digest']])
    expect(refusal(await consume({ ...made, digest: 'abc' }))[2]).toEqual(['digest'])
    dataOf(await consume(made))
  })

  test('works within the requested time, and no longer after a clock is set back', async () => {
    const [made, other] = [await approved({ use_within_s: 60 }), await approved({ use_within_s: 60 })]
    clock.tick(minute)
    expect(refusal(await consume(made))).toEqual([410, 'use_by_passed', []])
    clock.tick(-minute)
    expect(await refused(made)).toEqual([410, 'use_by_passed', []])
    dataOf(await consume(other))
  })

  test.each([
    ['the device that approved was revoked', 'DELETE', () => `/svc/v1/organizations/${acme.id}/devices/1`],
    ['the approver is on hold', 'POST', () => `/organization/${acme.id}/user/${ada.id}/pending`],
  ])('is refused once %s', async (_, method, path) => {
    const made = await approved()
    dataOf(await service.call(method, path(), method === 'POST' ? { body: {} } : {}))
    expect(await refused(made)).toEqual([409, 'approver_left', []])
  })

  test('is refused once the device was revoked, although another program hides the answer', async () => {
    const made = await approved()
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/1`))
    await service.runSql("UPDATE ballots SET status = 'pending'")
    expect(await refused(made)).toEqual([409, 'approver_left', []])
  })

  test('of a request that is not approved is refused', async () => {
    const pending = await request()
    expect(await refused(pending)).toEqual([409, 'not_approved', []])
    dataOf(await decide(service, pending.id, ada.key, { decision: 'deny' }))
    expect(await refused(pending)).toEqual([409, 'not_approved', []])
    expect((await shown(pending.id)).use_by).toBeNull()
  })

  test('works for the requesting key only, and no other finds it', async () => {
    const made = await approved()
    const globex = await createTenant(service, 'globex')
    const other = await keyFor({ org_id: acme.id, scopes: ['ask'] })
    const operator = await keyFor({ scopes: ['all'] })
    for (const key of [globex.key, other, operator])
      expect(await refused(made, key)).toEqual([404, 'not_found', []])
    expect(await refused({ ...made, id: 'apr_nothing' })).toEqual([404, 'not_found', []])
    const reader = await keyFor({ org_id: acme.id, name: 'reader', scopes: ['read'] })
    expect(await refused(made, reader)).toEqual([403, 'scope_missing', []])
    dataOf(await consume(made))
  })

  test('by many callers at once works for exactly one', async () => {
    const made = await approved()
    const answers = await Promise.all(Array.from({ length: 20 }, () => consume(made)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
  })
})
