import { expect, test } from 'vitest'
import { reviewKeys } from '../../../src/cli/doctor/keys.ts'
import type { key as keys } from '../../../src/contract/key.ts'
import type { Data } from '../../../src/contract/operation.ts'
import { scopes } from '../../../src/contract/scopes.ts'

const now = Date.parse('2030-02-15T00:00:00Z')
type Key = Data<typeof keys.listKeys>[number]

const key = (id: number, more: Partial<Key> = {}): Key => ({
  id: String(id),
  name: `key ${id}`,
  kind: 'organization',
  org_id: 1,
  prefix: `svc_${id}`,
  scopes: ['ask'],
  created_by: null,
  owner_user_id: null,
  owner_confirmed_at: '2030-01-01T00:00:00.000Z',
  owner_left_at: null,
  ended: null,
  root_id: String(id),
  replaced: false,
  created_at: '2030-01-01T00:00:00.000Z',
  last_used_at: '2030-02-14T00:00:00.000Z',
  expires_at: null,
  revoked_at: null,
  client_name: null,
  ...more,
})
const own = key(100, { kind: 'operator', org_id: null, scopes: [...scopes] })
const findings = (...keys: ReturnType<typeof key>[]) =>
  reviewKeys(keys, own, now).map(({ state, message }) => [state, message])

test('says nothing of a key that ended with its sign-in', () => {
  expect(findings(key(1, { scopes: [...scopes], ended: 'signed_out' }))).toEqual([
    ['ok', '0 in use; no key of an organization has every scope'],
  ])
})

test('names keys of organizations with every scope, and no operator key', () => {
  const all = { scopes: [...scopes] }
  expect(findings(key(1, all), key(2, { ...all, kind: 'operator', org_id: null }), key(3))).toEqual([
    ['warn', 'every scope, so they can ask and change who approves: 1 key 1 (organization 1)'],
  ])
})

test('names keys whose owner left', () => {
  const left = { owner_left_at: '2030-02-10T00:00:00.000Z', expires_at: '2030-03-12T00:00:00.000Z' }
  expect(findings(key(1, left), key(2))).toEqual([
    ['warn', 'their owner left, so they stop working within 30 days: 1 key 1 (organization 1)'],
  ])
})

test('names operator keys if there are several', () => {
  const operator: Partial<Key> = { scopes: [...scopes], kind: 'operator', org_id: null }
  expect(findings(key(1, operator), key(2, operator))).toEqual([
    ['note', 'operator keys, each of which can do everything: 1 key 1, 2 key 2'],
  ])
})

test('names keys that expire soon, and keys that were never used', () => {
  expect(
    findings(
      key(1, { expires_at: '2030-02-20T00:00:00.000Z' }),
      key(2, { last_used_at: null }),
      key(3, { last_used_at: null, created_at: '2030-02-10T00:00:00.000Z' }),
      key(4, { client_name: 'svc', expires_at: '2030-02-15T08:00:00.000Z' }),
    ),
  ).toEqual([
    ['warn', 'expire within 14 days, also if they are rotated: 1 key 1 (organization 1)'],
    ['note', 'never used in 30 days: 2 key 2 (organization 1)'],
  ])
})

test('names keys that no person confirmed, except those of the whole service', () => {
  const claimed = { owner_user_id: '7', owner_confirmed_at: null }
  expect(findings(key(1, claimed), key(2, { ...claimed, org_id: null, kind: 'service' }))).toEqual([
    ['note', 'no person confirmed that these are theirs: 1 key 1 (organization 1)'],
  ])
})

test('does not mention expired or revoked keys', () => {
  const all = { scopes: [...scopes] }
  expect(
    findings(
      key(1, { ...all, revoked_at: '2030-02-01T00:00:00.000Z' }),
      key(2, { ...all, expires_at: '2030-02-01T00:00:00.000Z' }),
      key(3),
    ),
  ).toEqual([['ok', '1 in use; no key of an organization has every scope']])
})

test('names only some of many', () => {
  const many = Array.from({ length: 7 }, (_, n) => key(n + 1, { scopes: [...scopes] }))
  expect(findings(...many)[0]![1]).toContain('5 key 5 (organization 1), 2 more')
})

test('knows secrets that a rotation replaced', () => {
  const until = '2030-02-15T12:00:00.000Z'
  const old = key(1, { replaced: true, expires_at: until, last_used_at: null, scopes: [...scopes] })
  expect(findings(old, key(2, { root_id: '1' }))).toEqual([
    ['note', 'a rotation replaced these secrets, and they still work: 1 key 1 (organization 1)'],
  ])
  expect(reviewKeys([old], { ...own, ...old }, now).map(({ message, next }) => [message, next])).toEqual([
    [
      'a rotation replaced the key in use; it works until 2030-02-15T12:00:00Z',
      'svc profile login --with-key saves the new secret',
    ],
  ])
})
