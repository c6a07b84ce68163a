import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { table } from '../../src/contract/table.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { createMember, createTenant, dataOf, fence, refusal } from '../service/fixtures.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { createMobileUser } from '../service/mobile-user.ts'

// A client reads a record, changes a field or none, and writes all of it back. The specification shows few of the fields
// of a record, so a client cannot know which ones an update accepts.

type Case = { read: (id: Ids) => Promise<unknown>; write: (id: Ids) => [string, string]; body?: string }
type Ids = { org: number; user: string; fence: number; slot: string; code: string; person: string }

let service: TestService
let ids: Ids
beforeEach(async () => {
  service = await startTestService()
  const { id: org } = await createTenant(service, 'acme')
  const { id: user } = await createMember(service, org, 1)
  const make = async (path: string, body: object) =>
    dataOf(await service.call('POST', `/organization/${org}/${path}`, { body })).id
  const slot = { name: 'Office', days: ['mon'], start: '09:00', end: '17:00', timezone: 'UTC' }
  const person = await createMobileUser(service, { mobile: '2025550177', email: 'bob@acme.example' })
  ids = {
    org,
    user,
    fence: await make('create/geo-fence', fence),
    slot: await make('timeslots/add', slot),
    code: await make('create/auth-code', { label: 'Berlin' }),
    person: person.user_id,
  }
})
afterEach(() => service.close())

const get = async (path: string): Promise<unknown> => dataOf(await service.call('GET', path))
const first = async (path: string): Promise<unknown> => ((await get(path)) as unknown[])[0]

/** By operation: each update that returns the changed record, and the read that shows this record. */
const cases: Record<string, Case> = {
  updateOrganization: {
    read: ({ org }) => get(`/organization/${org}`),
    write: ({ org }) => ['PUT', `/organization/${org}/update`],
  },
  updateUser: {
    read: ({ org, user }) => get(`/organization/${org}/user/${user}`),
    write: ({ org, user }) => ['PUT', `/organization/${org}/update/user/${user}`],
  },
  updateGeofence: {
    read: ({ org, fence: id }) => get(`/organization/${org}/geo-fence/${id}`),
    write: ({ org, fence: id }) => ['PUT', `/organization/${org}/update/geo-fence/${id}`],
  },
  updateTimeslot: {
    read: ({ org }) => first(`/organization/${org}/timeslots`),
    write: ({ slot }) => ['PUT', `/timeslot/${slot}/update`],
  },
  updateAuthCode: {
    read: ({ org }) => first(`/organization/${org}/get-org-auth-codes`),
    write: ({ org, code }) => ['PUT', `/organization/${org}/update/auth-code/${code}`],
  },
  updateProfile: {
    read: async ({ person }) => {
      const body = { user_id: person, first_name: 'Bob' }
      const { country_code, mobile } = dataOf(await service.call('POST', '/update-profile', { body }))
      return dataOf(await service.call('POST', '/getuser', { body: { country_code, mobile } }))
    },
    write: () => ['POST', '/update-profile'],
  },
  setUserGeofences: {
    read: async ({ user }) => {
      const { is_active: _, ...place } = fence
      const body = { geofences: [{ ...place, enabled: true }] }
      dataOf(await service.call('PUT', `/user/${user}/geofences/update`, { body }))
      return get(`/user/${user}/geofences`)
    },
    write: ({ user }) => ['PUT', `/user/${user}/geofences/update`],
    body: 'geofences',
  },
  setUserTimeslots: {
    read: async ({ user, org }) => {
      const {
        id: _,
        org_id: __,
        created_at: ___,
        updated_at: ____,
        ...slot
      } = (await first(`/organization/${org}/timeslots`)) as Record<string, unknown>
      dataOf(await service.call('PUT', `/user/${user}/timeslots/update`, { body: { timeslots: [slot] } }))
      return get(`/user/${user}/timeslots`)
    },
    write: ({ user }) => ['PUT', `/user/${user}/timeslots/update`],
    body: 'timeslots',
  },
}

/** Everything except the time of the last write, at every depth. */
const withoutTime = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, inner) => (name === 'updated_at' ? undefined : inner)))

test('the list covers every operation that changes a record', () => {
  const updates = Object.entries(table as Record<string, Operation>)
    .filter(([, one]) => one.method === 'PUT' || one.updates)
    .map(([id]) => id)
  expect(updates.toSorted()).toEqual(Object.keys(cases).toSorted())
})

describe('the record that a read returned', () => {
  test.each(Object.keys(cases))('%s takes it back unchanged, and nothing changes', async (name) => {
    const { read, write, body } = cases[name]!
    const record = await read(ids)
    const [method, path] = write(ids)
    const sent = body === undefined ? (record as object) : { [body]: record }
    // updateProfile must change a field of its own, because its record contains the profile one level down.
    const own = name === 'updateProfile' ? { first_name: 'Bob' } : {}
    const answer = await service.call(method, path, { body: { ...sent, ...own } })
    expect([answer.status, withoutTime(answer.body.data)]).toEqual([200, withoutTime(record)])
    expect(withoutTime(await read(ids))).toEqual(withoutTime(record))
  })

  test.each([
    ['updateOrganization', 'id', 99],
    ['updateUser', 'org_id', 99],
    ['updateUser', 'state', 'pending'],
    ['updateUser', 'created_at', '2001-01-01T00:00:00.000Z'],
    ['updateGeofence', 'org_id', 99],
    ['updateTimeslot', 'id', 99],
    ['updateAuthCode', 'uses_left', 5],
    ['updateProfile', 'organizations', [{ id: 1 }]],
  ])('is rejected by %s with another %s, and nothing changes', async (name, field, value) => {
    const { read, write } = cases[name]!
    const record = (await read(ids)) as object
    const [method, path] = write(ids)
    const body = { ...record, first_name: 'Bob', [field]: value }
    if (name !== 'updateProfile' && name !== 'updateUser') Reflect.deleteProperty(body, 'first_name')
    const answer = await service.call(method, path, { body })
    expect(refusal(answer)).toEqual([422, 'invalid_field', [field]])
    expect(answer.body.data.issues[0].message).toMatch(/^(is read-only and|) ?differs from the/)
    expect(withoutTime(await read(ids))).toEqual(withoutTime(record))
  })

  test('an update refuses to clear what it can only set', async () => {
    const [method, path] = cases.updateAuthCode!.write(ids)
    dataOf(await service.call(method, path, { body: { expires_at: '2050-01-01T00:00:00Z' } }))
    const answer = await service.call(method, path, { body: { label: 'x', expires_at: null } })
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['expires_at']])
    expect(answer.body.message).toBe('expires_at cannot be cleared; leave it out, or set a value')
  })

  test.each([
    ['+1', '2025550142', '+12025550142'],
    ['+49', '15112345678', '+4915112345678'],
    ['+39', '0612345678', '+390612345678'],
  ])('is returned by %s %s in its two parts and in full', async (country_code, mobile, whole) => {
    const profile = { email: 'x@acme.example', first_name: 'X', last_name: 'Y', country_code, mobile }
    const create = (body: object) => service.call('POST', `/organization/${ids.org}/create/user`, { body })
    const made = dataOf(await create(profile))
    expect(made).toMatchObject({ country_code, mobile, mobile_e164: whole })
    expect(made.country_code + made.mobile).toBe(whole)
    // Both forms name the same person.
    for (const again of [mobile, whole])
      expect(refusal(await create({ ...profile, mobile: again }))).toEqual([409, 'user_exists', []])
    const registered = dataOf(
      await service.call('POST', '/wp/register/mobile/user', { body: { ...profile } }),
    )
    expect(registered).toMatchObject({ country_code, mobile, mobile_e164: whole })
    for (const who of [{ country_code, mobile }, { mobile: whole }, { country_code, mobile: whole }])
      expect(dataOf(await service.call('POST', '/getuser', { body: who }))).toMatchObject({
        country_code,
        mobile,
        mobile_e164: whole,
      })
  })

  test('a number that its country would read differently stays in full, and is still accepted', async () => {
    const [country_code, mobile] = ['+49', '+494979529444']
    const profile = { email: 'x@acme.example', first_name: 'X', last_name: 'Y', country_code, mobile }
    const create = () => service.call('POST', `/organization/${ids.org}/create/user`, { body: profile })
    expect(dataOf(await create())).toMatchObject({ mobile, mobile_e164: mobile })
    expect(refusal(await create())).toEqual([409, 'user_exists', []])
  })

  test('an unknown field is still rejected', async () => {
    const [method, path] = cases.updateUser!.write(ids)
    expect(refusal(await service.call(method, path, { body: { frist_name: 'Ada' } }))).toEqual([
      422,
      'invalid_field',
      ['frist_name'],
    ])
  })
})
