import { describe, expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import {
  ada,
  auditOf,
  createMember,
  createTenant,
  dataOf,
  refusal,
  refusedWithoutTrace,
} from '../fixtures.ts'

installHooks()

const create = (body: object, key?: string) =>
  service.call('POST', `/organization/${acme.id}/create/user`, { body: { ...ada, ...body }, key })
const update = (id: number, body: object, key?: string) =>
  service.call('PUT', `/organization/${acme.id}/update/user/${id}`, { body, key })
const list = async (query = '') => dataOf(await service.call('GET', `/organization/${acme.id}/users${query}`))
const setState = (userId: number, state: 'pending' | 'active' | 'rejected' | 'removed') =>
  service.storage.write(
    (db) => db.updateTable('memberships').set({ state }).where('user_id', '=', userId).execute(),
    { org: 0 },
  )

describe('creating a user', () => {
  test('creates an active member, whose mobile is stored as E.164', async () => {
    const user = dataOf(await create({}))
    expect(user).toMatchObject({
      org_id: acme.id,
      email: ada.email,
      country_code: '+1',
      mobile: '2025550101',
      mobile_e164: '+12025550101',
      first_name: 'Ada',
      last_name: 'Lovelace',
      role: 'member',
      state: 'active',
    })
    expect(dataOf(await service.call('GET', `/organization/${acme.id}/user/${user.id}`))).toEqual(user)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'createUser',
      `user:${user.id}`,
      ['email', 'country_code', 'mobile', 'first_name', 'last_name'],
    ])
  })

  test('recognizes a number in every spelling', async () => {
    await create({})
    for (const mobile of ['(202) 555-0101', '202.555.0101', '1 202 555 0101', '+1 202 555 0101'])
      expect(refusal(await create({ mobile }))).toEqual([409, 'user_exists', []])
    expect(await list()).toHaveLength(1)
  })

  test.each([
    [{ mobile: '12' }, 'mobile'],
    [{ mobile: 'abc' }, 'mobile'],
    [{ mobile: '+4915112345678' }, 'mobile'],
    [{ mobile: '2025550101 ext. 5' }, 'mobile'],
    [{ country_code: '+999' }, 'country_code'],
    [{ country_code: '1' }, 'country_code'],
    [{ email: 'nobody' }, 'email'],
    [{ first_name: '' }, 'first_name'],
    [{ role: 'king' }, 'role'],
  ])('refuses %j and names the field', async (wrong, field) => {
    expect(await refusedWithoutTrace(service, () => create(wrong))).toEqual([422, 'invalid_field', [field]])
  })

  test('links a person of another organization, with a profile and a role of their own', async () => {
    const other = await createTenant(service, 'other')
    const there = await createMember(service, other.id, 1, { first_name: 'Augusta', role: 'admin' })
    const here = dataOf(await create({}))
    expect(here.id).toBe(there.id)
    expect(here).toMatchObject({ org_id: acme.id, first_name: 'Ada', role: 'member' })
    expect(here.created_at >= there.created_at).toBe(true)
    const still = dataOf(await service.call('GET', `/organization/${other.id}/user/${there.id}`))
    expect(still).toEqual(there)
  })

  test.each(['removed', 'rejected'] as const)(
    'brings back who was %s, with the new profile',
    async (state) => {
      const { id } = dataOf(await create({ role: 'admin' }))
      await setState(id, state)
      const back = dataOf(await create({ first_name: 'Augusta' }))
      expect(back).toMatchObject({ id, first_name: 'Augusta', role: 'member', state: 'active' })
    },
  )

  test('does not accept a pending user', async () => {
    const { id } = dataOf(await create({}))
    await setState(id, 'pending')
    const answer = await create({})
    expect(refusal(answer)).toEqual([409, 'user_pending', []])
    expect(answer.body.data.hint).toBe(`svc user pending accept ${id} --org ${acme.id}`)
  })

  test('assigns the role operator with an operator key only', async () => {
    expect(refusal(await create({ role: 'operator' }, acme.key))).toEqual([403, 'operator_only', []])
    const { id } = dataOf(await create({ role: 'admin' }, acme.key))
    expect(refusal(await update(id, { role: 'operator' }, acme.key))).toEqual([403, 'operator_only', []])
    expect(dataOf(await update(id, { role: 'operator' })).role).toBe('operator')
  })

  test('knows no organization that is not there', async () => {
    const answer = await service.call('POST', '/organization/99/create/user', { body: ada })
    expect(refusal(answer)).toEqual([404, 'not_found', []])
  })
})

const ids = (rows: { id: number }[]) => rows.map(({ id }) => id)

describe('listing users', () => {
  test('is ordered by id, and includes removed users only on request', async () => {
    const users = []
    for (let n = 1; n <= 4; n++) users.push(await createMember(service, acme.id, n))
    await setState(users[1].id, 'removed')
    await setState(users[2].id, 'pending')
    expect(ids(await list())).toEqual([users[0].id, users[2].id, users[3].id])
    expect(ids(await list('?state=removed'))).toEqual([users[1].id])
    expect(ids(await list('?state=pending'))).toEqual([users[2].id])
    const pending = dataOf(await service.call('GET', `/organization/${acme.id}/pending/users`))
    expect(ids(pending)).toEqual([users[2].id])
  })

  test('finds by mobile in any spelling, and by e-mail in any case', async () => {
    await createMember(service, acme.id, 1)
    const second = await createMember(service, acme.id, 2)
    expect(await list(`?mobile=${encodeURIComponent('+1 (202) 555-0102')}`)).toEqual([second])
    expect(await list('?email=USER2@acme.EXAMPLE')).toEqual([second])
    expect(await list('?email=nobody@acme.example')).toEqual([])
  })

  test.each(['2025550102', 'x', '%2B12'])('refuses to look for the mobile %s', async (mobile) => {
    const answer = await service.call('GET', `/organization/${acme.id}/users?mobile=${mobile}`)
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['mobile']])
  })

  test('has pages that contain each user exactly once', async () => {
    const made = []
    for (let n = 1; n <= 5; n++) made.push(await createMember(service, acme.id, n))
    const seen = []
    let path: string | undefined = `/organization/${acme.id}/users?limit=2`
    while (path) {
      const answer = await service.call('GET', path)
      seen.push(...dataOf(answer))
      const next: string | undefined = /<([^>]+)>/.exec(answer.headers.link ?? '')?.[1]
      path = next && `/organization/${acme.id}/users${new URL(next).search}`
    }
    expect(seen).toEqual(made)
  })
})

describe('updating a user', () => {
  test('changes the profile of this membership only', async () => {
    const other = await createTenant(service, 'other')
    const { id } = dataOf(await create({}))
    const there = await createMember(service, other.id, 1)
    const user = dataOf(await update(id, { email: 'ada@new.example', role: 'admin' }))
    expect(user).toMatchObject({ email: 'ada@new.example', first_name: 'Ada', role: 'admin' })
    expect(dataOf(await service.call('GET', `/organization/${other.id}/user/${id}`))).toEqual(there)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['updateUser', `user:${id}`, ['email', 'role']])
  })

  test('accepts the present number in any spelling, and no other', async () => {
    const { id } = dataOf(await create({}))
    for (const same of [
      { mobile: '(202) 555-0101' },
      { mobile: '+12025550101' },
      { country_code: '+1' },
      { mobile: '2025550101', country_code: '+1' },
    ])
      expect((await update(id, same)).status).toBe(200)
    for (const other of [
      { mobile: '2025550102' },
      { mobile: '+4915112345678' },
      { country_code: '+49' },
      { mobile: '15112345678', country_code: '+49' },
    ])
      expect(refusal(await update(id, other))).toEqual([409, 'mobile_is_identity', []])
    expect(refusal(await update(id, { mobile: '1' }))).toEqual([422, 'invalid_field', ['mobile']])
  })

  test('refuses an update of nothing', async () => {
    const { id } = dataOf(await create({}))
    const answer = await update(id, {})
    expect(refusal(answer)).toEqual([422, 'nothing_to_change', []])
    expect(answer.body.data.hint).toBe('Set one or more of email, first_name, last_name, role')
  })

  test('refuses a removed user, and finds no unknown user', async () => {
    const { id } = dataOf(await create({}))
    await setState(id, 'removed')
    expect(refusal(await update(id, { first_name: 'A' }))).toEqual([409, 'user_removed', []])
    expect(refusal(await update(99, { first_name: 'A' }))).toEqual([404, 'not_found', []])
  })
})
