import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { acme, ada, clock, service } from '../acme-with-ada.ts'
import { ask, createApprover, decide, post, show, signed } from '../approver.ts'
import { hour, minute, second } from '../clock.ts'
import { createTenant, dataOf, refusal } from '../fixtures.ts'
import { type Answer, startTestService } from '../harness.ts'
import { addLongRule, askLong, bob, installHooks } from './long-requests.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { withdraw, statusOf } from './requested.ts'

installHooks()

const limitOf = ({ status, body }: Answer) => [status, body.data.code, body.message]
const idOf = (answer: Answer): string => dataOf(answer).request_id
const createKey = async (name: string): Promise<string> =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name, org_id: acme.id, scopes: ['ask'] } })).key

/** So many long requests of a key, which are not too many in a short time. */
const askLongTimes = async (count: number, key = acme.key): Promise<string[]> => {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    ids.push(idOf(await askLong(86_400, key)))
    clock.tick(3 * minute)
  }
  return ids
}

describe('a rule with a lifetime of 24 hours', () => {
  test('lets a request live that long, and be decided and used at its end', async () => {
    const asked = dataOf(await askLong())
    expect(Date.parse(asked.expires_at) - Date.parse(asked.requested_at)).toBe(24 * hour)
    clock.tick(24 * hour - second)
    for (const { key } of [ada, bob]) dataOf(await decide(service, asked.request_id, key))
    const { status, subject } = dataOf(await show(service, asked.request_id))
    expect(status).toBe('approved')
    const path = `/svc/v1/approvals/${asked.request_id}/consume`
    dataOf(await service.call('POST', path, { key: acme.key, body: { digest: subject.digest } }))
  })

  test('decides how long a request without a lifetime lives', async () => {
    const { requested_at, expires_at } = dataOf(await ask(service, ada, {}, acme.key))
    expect(Date.parse(expires_at) - Date.parse(requested_at)).toBe(24 * hour)
  })

  test('ends the request after them', async () => {
    const id = idOf(await askLong())
    const response = await signed(service, id, 'approve', ada.key)
    clock.tick(24 * hour)
    expect((await statusOf(id))[0]).toBe('expired')
    expect((await post(service, id, { decision: 'approve', response })).status).toBe(410)
  })

  test('lets nothing else live longer than an hour', async () => {
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/rules/long`))
    expect(refusal(await askLong(3601))).toEqual([422, 'invalid_field', ['lifetime_s']])
    dataOf(await askLong(3600))
  })
})

test('a long request survives a restart of the service, hours later', async () => {
  const { path: folder, remove } = temporaryFolder()
  const kept = join(folder, 'kept.db')
  const before = await startTestService({ dev: true, now: clock.now })
  const { id: org, key } = await createTenant(before, 'acme')
  const people = [await createApprover(before, org, 1), await createApprover(before, org, 2)]
  await addLongRule(before, org, people)
  const id = idOf(await ask(before, people[0]!, { lifetime_s: 86_400 }, key))
  await before.close(kept)
  clock.tick(9 * hour)
  const after = await startTestService({ dev: true, now: clock.now, from: kept })
  try {
    dataOf(await decide(after, id, people[0]!.key))
    const waiting = after.call('GET', `/svc/v1/approvals/${id}?wait_s=30`)
    dataOf(await decide(after, id, people[1]!.key))
    expect(dataOf(await waiting).status).toBe('approved')
  } finally {
    await after.close()
    remove()
  }
})

const most = (count: number) => [
  429,
  'too_many_pending',
  `Several keys together have ${count} pending requests of more than an hour to this approver`,
]

describe('requests of more than an hour have a limit of their own:', () => {
  test('ten of one key, apart from the short ones', async () => {
    const [first] = await askLongTimes(10)
    const refused = await askLong()
    expect(limitOf(refused)).toEqual([
      429,
      'too_many_pending',
      'This key already has 10 pending requests of more than an hour to this approver',
    ])
    expect(refused.body.data.hint).toContain('svc approve withdraw')
    clock.tick(10 * minute)
    for (let i = 0; i < 3; i++) dataOf(await askLong(3600))
    expect(limitOf(await askLong(3600))).toEqual([
      429,
      'too_many_pending',
      'This key already has 3 pending requests to this approver',
    ])
    dataOf(await withdraw(first!, acme.key))
    dataOf(await askLong())
  })

  test('twenty of all keys together, of which the last five are for keys with none', async () => {
    const other = await createKey('other')
    await askLongTimes(10, await createKey('one'))
    await askLongTimes(5, other)
    expect(limitOf(await askLong(86_400, other))).toEqual(most(15))
    for (let n = 0; n < 5; n++) await askLongTimes(1, await createKey(`new ${n}`))
    expect(limitOf(await askLong())).toEqual(most(20))
    dataOf(await askLong(3600))
  })
})
