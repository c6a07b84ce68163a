import { describe, expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import { ada, auditOf, contentsOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import { create, list, revoke, rotate, scoped, works } from './key-calls.ts'

installHooks()

describe('a key', () => {
  test('is revoked with all its secrets by its newest one', async () => {
    const made = dataOf(await create({ name: 'ci', org_id: acme.id, scopes: ['keys'] }))
    const next = dataOf(await rotate(made.id))
    const child = dataOf(await create({ name: 'child', scopes: ['keys'] }, next.key))
    expect((await list('', made.key)).status).toBe(200)
    expect((await revoke(next.id)).status).toBe(200)
    expect(
      await Promise.all([made, next, child].map(async ({ key }) => (await list('', key)).status)),
    ).toEqual([401, 401, 401])
  })

  test('rotates only itself and the keys that it created', async () => {
    const { id, key } = dataOf(await create({ name: 'lead', org_id: acme.id, scopes: ['keys', 'ask'] }))
    const other = dataOf(await create({ name: 'app', org_id: acme.id, scopes: ['ask'] }))
    const child = dataOf(await create({ name: 'child', scopes: ['ask'] }, key))
    const by = (target: number) => rotate(target, {}, key)
    const before = await contentsOf(service)
    expect(refusal(await by(other.id))).toEqual([403, 'not_your_key', []])
    expect(await contentsOf(service)).toEqual(before)
    expect([(await by(child.id)).status, (await by(id)).status]).toEqual([200, 200])
  })

  test('is revoked with the key that created it, and so are the keys that it created', async () => {
    const { id, key } = await scoped('keys', 'ask', 'read')
    const child = dataOf(await create({ name: 'child', scopes: ['keys', 'read'] }, key))
    const grandchild = dataOf(await create({ name: 'grandchild', scopes: ['read'] }, child.key))
    dataOf(await rotate(child.id, {}, key))
    const other = await scoped('read')
    expect(await works(grandchild.key)).toBe(true)
    expect((await revoke(id)).status).toBe(200)
    expect(await Promise.all([key, child.key, grandchild.key, other.key].map(works))).toEqual([
      false,
      false,
      false,
      true,
    ])
  })

  test('is shown with the keys that end with it', async () => {
    const { id, key } = await scoped('keys', 'ask', 'read')
    const child = dataOf(await create({ name: 'child', scopes: ['keys', 'read'] }, key))
    const grandchild = dataOf(await create({ name: 'grandchild', scopes: ['read'] }, child.key))
    const over = dataOf(await create({ name: 'over', scopes: ['read'] }, key))
    await revoke(over.id)
    const rotated = dataOf(await rotate(child.id, {}, key))
    const shown = dataOf(await service.call('GET', `/svc/v1/keys/${id}`))
    expect(shown).toMatchObject({ id, scopes: ['ask', 'read', 'keys'] })
    expect(shown.created_keys.map(({ id: one }: { id: string }) => one)).toEqual([grandchild.id, rotated.id])
    const other = await createTenant(service, 'other')
    expect(refusal(await service.call('GET', `/svc/v1/keys/${id}`, { key: other.key }))).toEqual([
      404,
      'not_found',
      [],
    ])
  })
})

describe('a key that a user owns', () => {
  test.each([
    [
      'is removed',
      (user_id: string) =>
        service.call('POST', '/organization/remove/user', { body: { org_id: acme.id, user_id } }),
    ],
    ['is deleted', (id: string) => service.call('DELETE', `/organization/${acme.id}/delete/user/${id}`)],
    [
      'is put on hold',
      (id: string) => service.call('POST', `/organization/${acme.id}/user/${id}/pending`, { body: {} }),
    ],
  ])('ends when its owner %s, with its keys and requests', async (_, leave) => {
    const owner = dataOf(await service.call('POST', `/organization/${acme.id}/create/user`, { body: ada }))
    const other = dataOf(
      await service.call('POST', `/organization/${acme.id}/create/user`, {
        body: { ...ada, mobile: '2025550102', email: 'eve@acme.example' },
      }),
    )
    const own = dataOf(
      await create({ name: 'own', org_id: acme.id, scopes: ['keys', 'read'], owner_user_id: owner.id }),
    )
    const child = dataOf(await create({ name: 'child', scopes: ['read'] }, own.key))
    const eves = dataOf(
      await create({ name: 'eves', org_id: acme.id, scopes: ['read'], owner_user_id: other.id }),
    )
    const services = dataOf(await create({ name: 'all orgs', scopes: ['read'], owner_user_id: owner.id }))
    dataOf(await leave(owner.id))
    expect(await Promise.all([own, child, eves, services].map(({ key }) => works(key)))).toEqual([
      false,
      false,
      true,
      true,
    ])
    const changes = (await auditOf(service, acme.id)).filter(([, , fields]) => fields[0] === 'revoked_at')
    expect(changes.map(([, subject]) => subject)).toEqual([`key:${own.id}`, `key:${child.id}`])
  })

  test('must belong to an active member of its organization', async () => {
    expect(
      refusal(await create({ name: 'x', org_id: acme.id, scopes: ['ask'], owner_user_id: '99' })),
    ).toEqual([422, 'invalid_field', ['owner_user_id']])
  })
})
