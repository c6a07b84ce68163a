import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, createApprover } from '../approver.ts'
import { minute } from '../clock.ts'
import { auditOf, createMember, createTenant, dataOf, refusal, slot } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { geofence, path, refused, set, shown, usedOf } from './quota-stage.ts'

installHooks()

const member = (n: number): Promise<Answer> =>
  service.call('POST', `/organization/${acme.id}/create/user`, {
    key: acme.key,
    body: {
      email: `user${n}@acme.example`,
      country_code: '+1',
      mobile: String(2025550100 + n),
      first_name: 'A',
      last_name: 'B',
    },
  })
const userFences = (count: number): Promise<Answer> => {
  const geofences = Array.from({ length: count }, (_, i) => ({
    name: `Home ${i}`,
    latitude: 1,
    longitude: 2,
    radius: 3,
    enabled: true,
  }))
  return service.call('PUT', `/user/${ada.id}/geofences/update`, { key: acme.key, body: { geofences } })
}
const timeslot = (): Promise<Answer> =>
  service.call('POST', `/organization/${acme.id}/timeslots/add`, { key: acme.key, body: slot })
const text = (mobile: string, key = acme.key): Promise<Answer> =>
  service.call('POST', '/send/global/notification', {
    key,
    body: { type: 'alert', mobile, message: 'Hello' },
  })

describe('the limits of an organization', () => {
  test('have defaults, and are listed with the usage', async () => {
    const rows = await shown()
    expect(rows.users).toMatchObject({ limit: 50_000, default: 50_000, used: 1 })
    expect(rows.sms_countries).toMatchObject({ limit: ['all'], used: null })
    expect(rows.requests_per_second).toMatchObject({ limit: 1_000, used: null })
  })

  test('only the operator can change and reset them', async () => {
    expect(refusal(await set({ users: 5 }, acme.key))).toEqual([403, 'operator_only', []])
    const rows = dataOf(await set({ users: 5, sms_countries: ['+49'] }))
    expect(rows.find(({ name }: { name: string }) => name === 'users').limit).toBe(5)
    expect((await shown()).sms_countries!.limit).toEqual(['+49'])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'setLimits',
      `organization:${acme.id}`,
      ['users', 'sms_countries'],
    ])
    dataOf(await set({ reset: ['users'], sms_countries: ['all'] }))
    expect([(await shown()).users!.limit, (await shown()).sms_countries!.limit]).toEqual([50_000, ['all']])
    expect(
      await service.storage.read((db) => db.selectFrom('organization_limits').selectAll().execute()),
    ).toEqual([])
  })

  test.each([
    [{}, 'nothing_to_change', []],
    [{ users: -1 }, 'invalid_field', ['users']],
    [{ users: 1.5 }, 'invalid_field', ['users']],
    [{ requests_per_second: 0 }, 'invalid_field', ['requests_per_second']],
    [{ sms_countries: ['Germany'] }, 'invalid_field', ['sms_countries[0]']],
    [{ user: 5 }, 'invalid_field', ['user']],
    [{ users: 5, reset: ['users'] }, 'invalid_field', ['reset']],
  ])('are not %j', async (body, code, fields) => {
    expect(refusal(await set(body))).toEqual([422, code, fields])
  })

  test("of another organization are nobody's business", async () => {
    const other = await createTenant(service, 'other')
    expect(refusal(await service.call('GET', path(), { key: other.key }))).toEqual([404, 'not_found', []])
    dataOf(await set({ users: 1 }))
    expect((await createMember(service, other.id, 7)).state).toBe('active')
  })
})

describe('what is counted', () => {
  test('users: the next is refused, one who is removed makes room, one who comes back takes it', async () => {
    dataOf(await set({ users: 2 }))
    const { id } = dataOf(await member(2))
    const answer = await member(3)
    expect(refused(answer)).toEqual([409, 'quota_exceeded', 'users', 2])
    expect(answer.body.message).toBe('Users, active or pending: the limit of 2 is reached')
    expect(answer.body.data.hint).toBe(
      `Only the operator of the service can raise it: svc org limits set --org ${acme.id} --users N`,
    )
    expect(await usedOf('users')).toBe(2)
    dataOf(
      await service.call('POST', '/organization/remove/user', { body: { org_id: acme.id, user_id: id } }),
    )
    dataOf(await member(3))
    expect(refused(await member(2))).toEqual([409, 'quota_exceeded', 'users', 2])
    dataOf(await set({ users: 3 }))
    dataOf(await member(2))
    dataOf(await set({ users: 1 }))
    expect(refused(await member(4))).toEqual([409, 'quota_exceeded', 'users', 1])
    expect(await usedOf('users')).toBe(3)
  })

  test('existing users are reported as such, and cost nothing', async () => {
    dataOf(await set({ users: 2 }))
    for (let i = 0; i < 3; i++) expect(refusal(await member(1))[1]).toBe('user_exists')
    dataOf(await member(2))
  })

  test('concurrent additions of users do not exceed the limit', async () => {
    dataOf(await set({ users: 6 }))
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => member(i + 2)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(await usedOf('users')).toBe(6)
  })

  test('geofences, of the organization and of its users', async () => {
    dataOf(await set({ geofences: 3 }))
    dataOf(await geofence())
    dataOf(await userFences(2))
    expect(refused(await geofence())).toEqual([409, 'quota_exceeded', 'geofences', 3])
    expect(refused(await userFences(3))).toEqual([409, 'quota_exceeded', 'geofences', 3])
    expect(await usedOf('geofences')).toBe(3)
    dataOf(await userFences(2))
    dataOf(await userFences(0))
    dataOf(await geofence())
  })

  test('time slots', async () => {
    dataOf(await set({ timeslots: 1 }))
    dataOf(await timeslot())
    expect(refused(await timeslot())).toEqual([409, 'quota_exceeded', 'timeslots', 1])
  })

  test('pending approvals of all approvers, until they end', async () => {
    dataOf(await set({ pending_approvals: 2 }))
    const bob = await createApprover(service, acme.id, 2)
    const { request_id } = dataOf(await ask(service, ada, {}, acme.key))
    dataOf(await ask(service, bob, {}, acme.key))
    expect(refused(await ask(service, bob))).toEqual([409, 'quota_exceeded', 'pending_approvals', 2])
    dataOf(await service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { body: {} }))
    dataOf(await ask(service, bob))
    clock.tick(6 * minute)
    dataOf(await ask(service, bob))
  })
})

describe('text messages', () => {
  test('are so many in 24 hours; then 429 says when there are more', async () => {
    dataOf(await set({ sms_per_day: 2 }))
    dataOf(await text('+12025550111'))
    clock.tick(60 * minute)
    dataOf(await text('+12025550112'))
    const answer = await text('+12025550113')
    expect(refused(answer)).toEqual([429, 'rate_limited', 'sms_per_day', 2])
    expect(answer.headers['retry-after']).toBe(String(23 * 3600))
    expect(answer.body.data.hint).toMatch(/^Try again in 23 h\. Only the operator/)
    expect(await usedOf('sms_per_day')).toBe(2)
    expect((await text('+12025550113', service.operatorKey)).status).toBe(200)
    clock.tick(23 * 60 * minute)
    dataOf(await text('+12025550113'))
    expect(refused(await text('+12025550114'))).toEqual([429, 'rate_limited', 'sms_per_day', 2])
  })

  test('go to every country, and to no satellite or premium service that was not allowed', async () => {
    const satellite = '+88213123456'
    dataOf(await text('+4915112345678'))
    const answer = await text(satellite)
    expect(refused(answer)).toEqual([409, 'sms_country_not_allowed', 'sms_countries', ['all']])
    expect(answer.body.data.hint).toContain(`svc org limits set --org ${acme.id} --sms-countries all,+882`)
    dataOf(await set({ sms_countries: ['all', '+882'] }))
    dataOf(await text(satellite))
    dataOf(await set({ sms_countries: ['+1'] }))
    expect(refused(await text('+4915112345679'))[1]).toBe('sms_country_not_allowed')
    dataOf(await text('+12025550111'))
  })
})
