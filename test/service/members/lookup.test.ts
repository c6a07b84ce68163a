import { beforeEach, describe, expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import { createMember, createTenant, dataOf, refusal } from '../fixtures.ts'

installHooks()

let other: { id: number; key: string }
let user: { id: string }
beforeEach(async () => {
  other = await createTenant(service, 'other')
  user = await createMember(service, acme.id, 1)
})

const details = (body: object, key?: string) =>
  service.call('POST', '/organization/user/details', { body, key })

describe('details of a user', () => {
  test('are found by id, by mobile in any spelling, and by e-mail in any case', async () => {
    for (const by of [
      { user_id: user.id },
      { mobile: '+1 (202) 555-0101' },
      { email: 'USER1@acme.example' },
    ]) {
      expect(dataOf(await details({ org_id: acme.id, ...by }))).toEqual(user)
      expect(dataOf(await details(by, acme.key))).toEqual(user)
    }
  })

  test('require exactly one way to find the user', async () => {
    expect(refusal(await details({}, acme.key))).toEqual([
      422,
      'invalid_field',
      ['user_id', 'mobile', 'email'],
    ])
    const two = { user_id: user.id, email: 'user1@acme.example' }
    expect(refusal(await details(two, acme.key))).toEqual([422, 'invalid_field', ['user_id', 'email']])
  })

  test('require the organization from an operator', async () => {
    expect(refusal(await details({ user_id: user.id }))).toEqual([422, 'invalid_field', ['org_id']])
  })

  test('are a conflict if two users have the address, unless one has left', async () => {
    const email = 'shared@acme.example'
    const second = await createMember(service, acme.id, 2, { email })
    const third = await createMember(service, acme.id, 3, { email })
    expect(refusal(await details({ email }, acme.key))).toEqual([409, 'several_users', []])
    await service.call('POST', '/organization/remove/user', {
      body: { org_id: acme.id, user_id: second.id },
    })
    expect(dataOf(await details({ email }, acme.key))).toEqual(third)
  })

  test.each([{ user_id: 99 }, { mobile: '+12025550199' }, { email: 'nobody@acme.example' }])(
    'know nobody by %j',
    async (by) => {
      expect(refusal(await details(by, acme.key))).toEqual([404, 'not_found', []])
    },
  )

  test('are not found in another organization', async () => {
    for (const by of [{ user_id: user.id }, { mobile: '+12025550101' }, { email: 'user1@acme.example' }]) {
      expect(refusal(await details(by, other.key))).toEqual([404, 'not_found', []])
      expect(refusal(await details({ ...by, org_id: acme.id }, other.key))).toEqual([404, 'not_found', []])
    }
  })
})

const inOrg = (slug: string, key?: string) =>
  service.call('GET', `/user/${user.id}/organizations/${slug}`, { key })

describe('a user in an organization', () => {
  test('is found by the slug', async () => {
    expect(dataOf(await inOrg('acme'))).toEqual(user)
    expect(dataOf(await inOrg('acme', acme.key))).toEqual(user)
  })

  test.each(['other', 'nowhere'])('is not in %s', async (slug) => {
    expect((await inOrg(slug)).status).toBe(404)
  })

  test('is hidden from another organization', async () => {
    expect((await inOrg('acme', other.key)).status).toBe(404)
  })
})

const orgs = (body: object, key?: string) =>
  service.call('POST', '/organization/user/getOrganizations', { body, key })

describe('the organizations of a user', () => {
  test('are all shown to an operator, with the role and state in each', async () => {
    await createMember(service, other.id, 1, { role: 'admin' })
    const both = [
      { id: acme.id, name: 'acme', slug: 'acme', role: 'member', state: 'active' },
      { id: other.id, name: 'other', slug: 'other', role: 'admin', state: 'active' },
    ]
    expect(dataOf(await orgs({ user_id: user.id }))).toEqual(both)
    expect(dataOf(await orgs({ mobile: '+1 202 555 0101' }))).toEqual(both)
    expect(dataOf(await orgs({ user_id: user.id }, acme.key))).toEqual([both[0]])
  })

  test('are hidden from everybody else', async () => {
    expect(refusal(await orgs({ user_id: user.id }, other.key))).toEqual([404, 'not_found', []])
    expect(refusal(await orgs({ user_id: 99 }))).toEqual([404, 'not_found', []])
  })

  test('require exactly one way to find the user', async () => {
    expect(refusal(await orgs({}))).toEqual([422, 'invalid_field', ['user_id', 'mobile']])
    const two = { user_id: user.id, mobile: '+12025550101' }
    expect(refusal(await orgs(two))).toEqual([422, 'invalid_field', ['user_id', 'mobile']])
    expect(refusal(await orgs({ mobile: '2025550101' }))).toEqual([422, 'invalid_field', ['mobile']])
  })
})
