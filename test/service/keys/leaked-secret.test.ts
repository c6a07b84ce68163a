import { describe, expect, test } from 'vitest'
import { acme, clock, installHooks, service } from '../acme.ts'
import { day } from '../clock.ts'
import { auditOf, contentsOf, dataOf, refusal } from '../fixtures.ts'
import { create, list, revoke, rotate, works } from './key-calls.ts'

installHooks()

type Key = { id: string; key: string }
const made = async (scopes = ['keys', 'read'], name = 'ci', org_id: number | null = acme.id): Promise<Key> =>
  dataOf(await create({ name, ...(org_id !== null && { org_id }), scopes }))
const rotated = async ({ id }: Pick<Key, 'id'>, body: object = {}, key?: string) =>
  dataOf(await rotate(id as unknown as number, body, key))
const revoked = async ({ id }: Pick<Key, 'id'>, key?: string) =>
  dataOf(await revoke(id as unknown as number, key))
const working = (...keys: Key[]) => Promise.all(keys.map(({ key }) => works(key)))
const eventTypes = async (orgId: number) =>
  (
    dataOf(await service.call('GET', `/svc/v1/events?org_id=${orgId}&type=key&from=2000-01-01T00:00:00Z`))
      .events as { type: string; data: { subject: string } }[]
  ).map(({ type, data }) => `${type} ${data.subject}`)

describe('a secret that a rotation replaced', () => {
  test('is ended alone; its successor and the keys of both stay', async () => {
    const old = await made()
    const child = dataOf(await create({ name: 'child', scopes: ['read'] }, old.key))
    const next = await rotated(old)
    const later = dataOf(await create({ name: 'later', scopes: ['read'] }, next.key))
    expect(dataOf(await service.call('GET', `/svc/v1/keys/${old.id}`))).toMatchObject({
      replaced: true,
      created_keys: [],
      created_keys_total: 0,
      secrets: [{ id: next.id }],
    })
    expect(await revoked(old)).toMatchObject({
      id: old.id,
      secrets: [],
      created_keys: [],
      ended_requests: 0,
      newest_id: next.id,
    })
    expect(await working(old, next, child, later)).toEqual([false, true, true, true])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['revokeKey', `key:${old.id}`, []])
    expect(refusal(await revoke(old.id as unknown as number))).toEqual([409, 'key_revoked', []])
  })

  test('is ended by itself too', async () => {
    const old = await made()
    const next = await rotated(old)
    expect(await revoked(old, old.key)).toMatchObject({ newest_id: next.id })
    expect(await working(old, next)).toEqual([false, true])
  })

  test('is ended also if it is the first operator key', async () => {
    const [first] = dataOf(await list())
    const next = await rotated(first)
    expect(await revoked(first, next.key)).toMatchObject({ newest_id: next.id })
    expect(await works(next.key)).toBe(true)
    expect(refusal(await revoke(next.id, next.key))).toEqual([409, 'last_operator_key', []])
  })

  test('can neither create nor rotate keys, because they would outlive it', async () => {
    const old = await made()
    const child = dataOf(await create({ name: 'child', scopes: ['read'] }, old.key))
    const next = await rotated(old)
    const before = await contentsOf(service)
    for (const answer of [
      await create({ name: 'heir', scopes: ['read'] }, old.key),
      await rotate(next.id, {}, old.key),
      await rotate(child.id, {}, old.key),
    ])
      expect(refusal(answer)).toEqual([403, 'secret_replaced', []])
    expect(await contentsOf(service)).toEqual(before)
    expect(await works(old.key)).toBe(true)
  })

  test('of an operator cannot onboard an organization, which has a key', async () => {
    const [first] = dataOf(await list())
    await rotated(first)
    const body = { name: 'Beta', slug: 'beta', first_name: 'Eve', last_name: 'A', email: 'e@b.example' }
    const answer = await service.call('POST', '/organization/create/onboarding', {
      body: { ...body, country_code: '+1', mobile: '2025550177' },
    })
    expect(refusal(answer)).toEqual([403, 'secret_replaced', []])
  })

  test('is named with the newest one if it is rotated again', async () => {
    const old = await made()
    const next = await rotated(await rotated(old))
    const answer = await rotate(old.id as unknown as number)
    expect(refusal(answer)).toEqual([409, 'key_rotated', []])
    expect(answer.body.message).toBe(
      `Secret ${old.id} was already replaced; the newest secret of the key is ${next.id}`,
    )
    expect(answer.body.data.hint).toBe(
      `svc key revoke ${old.id} ends this secret now; svc key rotate ${next.id} replaces the newest one`,
    )
  })
})

describe('a rotation', () => {
  test('without an overlap ends every older secret of the key, each in the audit and as an event', async () => {
    const first = await made()
    const second = await rotated(first)
    const third = await rotated(second, { overlap_s: 0 })
    expect(third.older_secrets).toEqual([])
    expect(await working(first, second, third)).toEqual([false, false, true])
    expect((await auditOf(service, acme.id)).slice(-4)).toEqual([
      ['rotateKey', `key:${second.id}`, ['expires_at']],
      ['rotateKey', `key:${third.id}`, ['overlap_s']],
      ['rotateKey', `key:${first.id}`, ['revoked_at']],
      ['rotateKey', `key:${second.id}`, ['revoked_at']],
    ])
    expect((await eventTypes(acme.id)).slice(-4)).toEqual([
      `key.rotated key:${second.id}`,
      `key.created key:${third.id}`,
      `key.revoked key:${first.id}`,
      `key.revoked key:${second.id}`,
    ])
  })

  test('lets no older secret work longer than its overlap', async () => {
    const first = await made()
    const second = await rotated(first, { overlap_s: 30 * 86_400 })
    const third = await rotated(second, { overlap_s: 3600 })
    const until = '2030-01-31T13:00:00.000Z'
    expect(third.older_secrets).toMatchObject([
      { id: first.id, expires_at: until },
      { id: second.id, expires_at: until },
    ])
    expect(dataOf(await service.call('GET', `/svc/v1/keys/${first.id}`)).expires_at).toBe(until)
    const fourth = await rotated(third)
    expect(fourth.older_secrets[0]).toMatchObject({ id: first.id, expires_at: until })
    clock.tick(day / 24)
    expect(await working(first, second, third, fourth)).toEqual([false, false, true, true])
  })

  test('leaves at most ten older secrets', async () => {
    let newest = await made()
    for (let n = 0; n < 10; n++) newest = await rotated(newest)
    expect(refusal(await rotate(newest.id as unknown as number))).toEqual([409, 'too_many_secrets', []])
    expect((await rotated(newest, { overlap_s: 0 })).older_secrets).toEqual([])
  })
})

test('revoking the newest secret ends the key, and the answer lists everything that ended', async () => {
  const first = await made()
  const second = await rotated(first)
  const child = dataOf(await create({ name: 'child', scopes: ['keys', 'read'] }, second.key))
  const grandchild = dataOf(await create({ name: 'grandchild', scopes: ['read'] }, child.key))
  const shown = dataOf(await service.call('GET', `/svc/v1/keys/${second.id}`))
  expect(shown).toMatchObject({ replaced: false, secrets: [{ id: first.id }], created_keys_total: 2 })
  expect(await revoked(second)).toMatchObject({
    id: second.id,
    name: 'ci',
    secrets: [first.id],
    created_keys: [{ id: child.id }, { id: grandchild.id }],
    created_keys_total: 2,
    newest_id: null,
  })
  expect(await working(first, second, child, grandchild)).toEqual([false, false, false, false])
})

test('a list says which secrets were replaced', async () => {
  const old = await made()
  const next = await rotated(old)
  const rows = dataOf(await list(`?org_id=${acme.id}`)) as { id: string; replaced: boolean }[]
  expect(rows.filter(({ id }) => [old.id, next.id].includes(id)).map(({ replaced }) => replaced)).toEqual([
    true,
    false,
  ])
})

describe('a leaked key that made many others', () => {
  test('is revoked however many these are', async () => {
    const leaked = await made()
    const child = dataOf(await create({ name: 'child', scopes: ['read'] }, leaked.key))
    await service.runSql(`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 40000)
      insert into api_keys
        (org_id, name, prefix, hash, wrapped_hash, created_at, revoked_at, scopes, created_by, replaced)
      select org_id, name || i, prefix || i, hash, wrapped_hash, created_at, created_at, scopes, created_by, 0
      from api_keys, n where id = ${child.id}`)
    expect(await revoked(leaked)).toMatchObject({ created_keys_total: 1 })
    expect(await working(leaked, child)).toEqual([false, false])
  })

  test('makes no more than the limit of its organization', async () => {
    const path = `/svc/v1/organizations/${acme.id}/limits`
    dataOf(await service.call('POST', path, { body: { keys: 3 } }))
    const leaked = await made()
    const answers = []
    for (const name of ['one', 'two', 'three', 'four'])
      answers.push(await create({ name, scopes: ['read'] }, leaked.key))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 409, 409])
    expect(answers[3]!.body.data).toMatchObject({ code: 'quota_exceeded', quota: 'keys' })
  })
})
