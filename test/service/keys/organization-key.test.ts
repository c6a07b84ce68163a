import { describe, expect, test } from 'vitest'
import { acme, clock, installHooks, service } from '../acme.ts'
import { day } from '../clock.ts'
import { contentsOf, dataOf, refusal } from '../fixtures.ts'
import { create, list, revoke, rotate, scoped, works } from './key-calls.ts'

installHooks()

describe('a key of an organization', () => {
  test('creates, rotates and revokes keys of its organization with the scope keys', async () => {
    const { key } = await scoped('keys', 'ask')
    const made = dataOf(await create({ name: 'mine', scopes: ['ask'] }, key))
    expect(made).toMatchObject({ org_id: acme.id, scopes: ['ask'], kind: 'organization' })
    expect((await rotate(made.id, {}, key)).status).toBe(200)
    expect((await revoke(made.id, key)).status).toBe(200)
  })

  test('does neither without that scope', async () => {
    const { id, key } = await scoped('ask', 'read', 'people', 'rules', 'devices', 'notify', 'app')
    const before = await contentsOf(service)
    for (const answer of [
      await create({ name: 'x', scopes: ['ask'] }, key),
      await rotate(id, {}, key),
      await revoke(id, key),
      await list('', key),
    ])
      expect(refusal(answer)).toEqual([403, 'scope_missing', []])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('grants only its own scopes, and gets no secret of a stronger key', async () => {
    const { key } = await scoped('keys', 'ask')
    const stronger = await scoped('rules')
    const before = await contentsOf(service)
    for (const scopes of [['all'], ['admin'], ['ask', 'devices']])
      expect(refusal(await create({ name: 'x', scopes }, key))).toEqual([403, 'scope_missing', []])
    expect(refusal(await rotate(stronger.id, {}, key))).toEqual([403, 'not_your_key', []])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('reaches no key of another organization, and creates none for the service', async () => {
    const { key } = await scoped('keys')
    const { id } = dataOf(await create({ name: 'service', scopes: ['ask'] }))
    const before = await contentsOf(service)
    expect(refusal(await revoke(id, key))).toEqual([404, 'not_found', []])
    expect(refusal(await rotate(id, {}, key))).toEqual([404, 'not_found', []])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('ends no later than the key that creates it', async () => {
    const until = '2030-02-01T12:00:00.000Z'
    const { key } = dataOf(
      await create({ name: 'a day', org_id: acme.id, scopes: ['keys', 'ask'], expires_at: until }),
    )
    for (const expires_at of [undefined, '2030-02-01T12:00:00.001Z'])
      expect(refusal(await create({ name: 'x', scopes: ['ask'], expires_at }, key))).toEqual([
        422,
        'invalid_field',
        ['expires_at'],
      ])
    const child = dataOf(
      await create({ name: 'x', scopes: ['ask'], expires_at: '2030-02-01T13:00:00+01:00' }, key),
    )
    expect(child.expires_at).toBe(until)
    clock.tick(day)
    expect(await works(child.key)).toBe(false)
  })

  test('reports expiry for a complete key, but not that it was revoked', async () => {
    const expires_at = '2030-02-01T12:00:00.000Z'
    const made = dataOf(await create({ name: 'x', org_id: acme.id, scopes: ['read'], expires_at }))
    clock.tick(day)
    const expired = await service.call('GET', '/organizations', { key: made.key })
    expect(refusal(expired)).toEqual([401, 'key_expired', []])
    expect(expired.body.message).toBe(`This key expired at ${expires_at}`)
    const guess = await service.call('GET', '/organizations', { key: `${made.key.slice(0, -1)}_` })
    expect(refusal(guess)).toEqual([401, 'unauthenticated', []])
    const revoked = await scoped('read')
    await revoke(revoked.id)
    const over = await service.call('GET', '/organizations', { key: revoked.key })
    expect([over.status, over.body]).toEqual([guess.status, guess.body])
  })
})
