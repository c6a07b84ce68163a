import { describe, expect, test } from 'vitest'
import { acme, ada, admin, clock, day, grace, installHooks, service, signAway } from '../away-stage.ts'
import { decide } from '../approver.ts'
import { auditOf, createTenant, dataOf, refusal, refusedWithoutTrace, twinText } from '../fixtures.ts'
import { signIn } from '../mcp/terminal-stage.ts'
import { answerTo, createPhone, fromPhone, type Phone } from '../page/phone.ts'

installHooks()

const at = (days: number): string => new Date(clock.now().getTime() + days * day).toISOString()
const set = (key: string, body: object, headers?: Record<string, string>) =>
  service.call('POST', '/svc/v1/away', { key, headers, body })
const awayOf = async ({ user }: Phone) =>
  dataOf(await service.call('GET', `/organization/${acme.id}/user/${user}`)).away

/** Sets an absence as a terminal does, with the yes of whoever is signed in. */
const consented = async (key: string, phone: Phone, body: object) => {
  const held = await set(key, body)
  expect([held.status, held.body.data.code]).toEqual([403, 'approval_required'])
  const { request_id } = held.body.data.request
  dataOf(await decide(service, request_id, phone.key))
  return set(key, body, { 'x-svc-approval': request_id })
}

/** What the page shows. */
const read = async ({ cookie }: Phone, query = '') =>
  dataOf(await fromPhone(service, 'GET', `away${query}`, { cookie })).away

describe('a terminal', () => {
  test('sets and ends the absence of its person, who signs each on their phone', async () => {
    const { access_token: key } = await signIn(ada)
    const until = at(14)
    const { away } = dataOf(await consented(key, ada, { until }))
    expect(away).toEqual({ from: at(0), until })
    expect(await awayOf(ada)).toEqual(away)
    // A person who is away is asked about their own absence.
    dataOf(await consented(key, ada, { end: true }))
    expect(await awayOf(ada)).toBeUndefined()
    const changes = (await auditOf(service, acme.id)).filter(
      ([, subject, all]) => subject === `user:${ada.user}` && all.includes('away'),
    )
    expect(changes.map(([action]) => action)).toEqual(['setAway', 'setAway'])
  })

  test('says on the phone who is away', async () => {
    const { access_token: key } = await signIn(ada)
    const { data, message } = (await set(key, { until: at(2) })).body
    expect(message).toBe('Confirm this on your own phone; nothing was changed')
    const { request } = data
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${request.request_id}`))
    expect(subject.summary).toBe(`Set away in acme: ${twinText(ada.user)}`)
    expect(subject.data.body.until).toBe(at(2))
  })

  test('changes nothing without the yes of its person', async () => {
    const { access_token: key } = await signIn(ada)
    const { request_id } = (await set(key, { until: at(2) })).body.data.request
    dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
    expect((await set(key, { until: at(2) }, { 'x-svc-approval': request_id })).status).toBe(409)
    expect(await awayOf(ada)).toBeUndefined()
  })

  test('sets that of nobody else, unless its person is an administrator', async () => {
    const { access_token: key } = await signIn(grace)
    const answer = () => set(key, { user_id: ada.user, until: at(2) })
    expect(await refusedWithoutTrace(service, answer)).toEqual([403, 'admin_only', []])
    const { access_token: manages } = await signIn(admin)
    dataOf(await consented(manages, admin, { user_id: ada.user, until: at(2) }))
    expect(await awayOf(ada)).toEqual({ from: at(0), until: at(2) })
  })
})

test('a key with which nobody is signed in is refused', async () => {
  const body = { name: 'ci', org_id: acme.id, scopes: ['all'], owner_user_id: ada.user }
  const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
  for (const one of [key, acme.key]) {
    const answer = () => set(one, { user_id: ada.user, until: at(2) })
    expect(await refusedWithoutTrace(service, answer)).toEqual([403, 'not_signed_in', []])
  }
})

describe('the page', () => {
  test('sets and ends the absence of the signed-in person with a signature', async () => {
    const wanted = { from: at(1), until: at(31) }
    dataOf(await signAway(ada, wanted))
    expect(await read(ada)).toEqual(wanted)
    dataOf(await signAway(ada, { end: true }))
    expect(await read(ada)).toBeNull()
  })

  test('refuses a signature of another device, or for another interval', async () => {
    expect(refusal(await signAway(ada, { until: at(2) }, grace))[0]).toBe(403)
    const { cookie } = ada
    const begun = await fromPhone(service, 'POST', 'away/challenge', { cookie, body: { until: at(2) } })
    const { challenge } = dataOf(begun)
    const body = { until: at(3), challenge, response: answerTo(challenge, ada.key) }
    expect(refusal(await fromPhone(service, 'POST', 'away', { cookie, body }))[0]).toBe(410)
    expect(await read(ada)).toBeNull()
  })

  test('lets an administrator set three days for a member, whom it tells', async () => {
    const days = (count: number) => signAway(admin, { user_id: ada.user, until: at(count) })
    expect(refusal(await days(4))).toEqual([422, 'invalid_field', ['until']])
    dataOf(await days(3))
    expect(await read(admin, `?user_id=${ada.user}`)).toEqual({ from: at(0), until: at(3) })
    const told = (await service.messages()).find(({ kind }) => kind === 'group')
    expect(told).toMatchObject({ channel: 'email', to: 'user1@acme.example' })
    expect(told!.text).toContain('administrator')
    dataOf(await signAway(admin, { user_id: ada.user, end: true }))
    expect(await read(ada)).toBeNull()
  })

  test('shows and sets that of a member to nobody else', async () => {
    const eve = await createPhone(service, (await createTenant(service, 'globex')).id, 5, { role: 'admin' })
    for (const [phone, expected] of [
      [grace, [403, 'admin_only', []]],
      [eve, [404, 'not_found', []]],
    ] as const)
      expect(refusal(await signAway(phone, { user_id: ada.user, until: at(2) }))).toEqual(expected)
    expect(await awayOf(ada)).toBeUndefined()
    const { cookie } = grace
    const query = `away?user_id=${ada.user}`
    expect(refusal(await fromPhone(service, 'GET', query, { cookie }))).toEqual([403, 'admin_only', []])
  })
})

describe('an interval', () => {
  test.each<[string, (day: (days: number) => string) => object, string]>([
    ['without an end', () => ({}), 'until'],
    ['that is over', (day) => ({ from: day(-3), until: day(-1) }), 'until'],
    ['that ends before it begins', (day) => ({ from: day(3), until: day(2) }), 'until'],
    ['of no length', (day) => ({ from: day(3), until: day(3) }), 'until'],
    ['of more than 30 days', (day) => ({ from: day(3), until: day(33.1) }), 'until'],
    ['with an end flag', (day) => ({ end: true, until: day(3) }), 'end'],
  ])('%s is refused', async (_, wanted, field) => {
    expect(refusal(await signAway(ada, wanted(at)))).toEqual([422, 'invalid_field', [field]])
  })

  test('that has begun begins now, and replaces the one before', async () => {
    dataOf(await signAway(ada, { until: at(20) }))
    dataOf(await signAway(ada, { from: at(-5), until: at(30) }))
    expect(await awayOf(ada)).toEqual({ from: at(0), until: at(30) })
  })

  test('is shown until it ends, and ends with the user', async () => {
    dataOf(await signAway(ada, { until: at(2) }))
    clock.tick(2 * day)
    expect(await awayOf(ada)).toBeUndefined()
    dataOf(await signAway(grace, { until: at(2) }))
    dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${grace.user}`))
    const rows = await service.storage.read((db) => db.selectFrom('absences').select('user_id').execute())
    expect(rows.map(({ user_id }) => String(user_id))).toEqual([ada.user])
  })

  test('that another program changed does not count', async () => {
    dataOf(await signAway(ada, { until: at(2) }))
    await service.storage.write(
      (db) =>
        db
          .updateTable('absences')
          .set({ ends_at: at(9) })
          .execute(),
      {
        org: null,
      },
    )
    expect(await awayOf(ada)).toBeUndefined()
    const altered = dataOf(await service.call('GET', `/svc/v1/audit/altered?org_id=${acme.id}`))
    expect(altered).toEqual([{ org_id: acme.id, kind: 'absence', id: ada.user }])
  })
})
