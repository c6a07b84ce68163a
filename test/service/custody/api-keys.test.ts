import { beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/core/ids.ts'
import { sourceTree } from '../../source-tree.ts'
import { acme, installHooks, service } from '../acme.ts'
import { dataOf } from '../fixtures.ts'

installHooks()

const change = (sql: string, ...values: unknown[]) => service.runSql(sql, values)
const whoAmI = async (key: string): Promise<number> =>
  (await service.call('GET', '/svc/v1/whoami', { key })).status

const createKey = async (more: object = {}) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name: 'ci', scopes: ['ask'], ...more } }))

let key: { id: string; key: string }
beforeEach(async () => {
  key = await createKey({ org_id: acme.id, expires_at: '2999-01-01T00:00:00.000Z' })
  if ((await whoAmI(key.key)) !== 200) throw new Error('a new key must be accepted')
})

describe('an API key is not accepted after another program has changed', () => {
  test.each([
    ['its scopes', "scopes = 'ask,read,people,rules,devices,keys,notify,app'"],
    ['its expiry', 'expires_at = NULL'],
    ['its organization', 'org_id = NULL'],
    ['the key that created it', 'created_by = NULL'],
    ['its owner', 'owner_user_id = 1'],
    ['when its owner left', "owner_left_at = '2030'"],
    ['its name', "name = 'Release'"],
    ['the key that it replaced', 'lineage = 1'],
    ['its hash, to that of its secret alone', 'hash = ?'],
  ])('%s', async (_, set) => {
    const values = set.includes('?') ? [sha256(key.key)] : []
    // A write of the service lets it read the store again.
    await service.storage.write(async () => undefined, { org: 0 })
    await change(`UPDATE api_keys SET ${set} WHERE id = ${key.id}`, ...values)
    expect(await whoAmI(key.key)).toBe(401)
  })

  test('that it was revoked', async () => {
    await service.call('DELETE', `/svc/v1/keys/${key.id}`)
    await change(`UPDATE api_keys SET revoked_at = NULL WHERE id = ${key.id}`)
    expect(await whoAmI(key.key)).toBe(401)
  })

  test('and a rotation does not give it a new secret', async () => {
    await change(`UPDATE api_keys SET scopes = 'keys' WHERE id = ${key.id}`)
    const rotated = await service.call('POST', `/svc/v1/keys/${key.id}/rotate`, { body: {} })
    expect([rotated.status, rotated.body.data.code]).toEqual([409, 'key_not_authentic'])
  })

  test('and a revocation does not make it authentic', async () => {
    await change(`UPDATE api_keys SET scopes = 'keys' WHERE id = ${key.id}`)
    expect((await service.call('DELETE', `/svc/v1/keys/${key.id}`)).status).toBe(200)
    await change(`UPDATE api_keys SET revoked_at = NULL WHERE id = ${key.id}`)
    expect(await whoAmI(key.key)).toBe(401)
  })
})

test('an API key that another program inserted is not accepted', async () => {
  const foreign = `svc_op_0badcafe_${'x'.repeat(43)}`
  const columns = 'name, org_id, created_at, scopes, wrapped_hash'
  await change(
    `INSERT INTO api_keys (prefix, hash, ${columns}) SELECT 'svc_op_0badcafe', ?, ${columns} FROM api_keys WHERE id = 1`,
    sha256(foreign),
  )
  expect(await whoAmI(foreign)).toBe(401)
})

test('the store holds no plain hash of a secret', async () => {
  const rows = await change('SELECT * FROM api_keys')
  expect(rows).toHaveLength(3)
  for (const secret of [service.operatorKey, acme.key, key.key])
    expect(JSON.stringify(rows)).not.toContain(sha256(secret))
})

test('a key works after the service has changed covered columns of its row', async () => {
  const rotated = dataOf(await service.call('POST', `/svc/v1/keys/${key.id}/rotate`, { body: {} }))
  expect([await whoAmI(key.key), await whoAmI(rotated.key)]).toEqual([200, 200])
})

const writes = /(?:insertInto|updateTable|deleteFrom|replaceInto|mergeInto)\(\s*'api_keys/
test('every statement that writes API keys is in one file', () => {
  const found = sourceTree().filter(({ text }) => writes.test(text))
  expect(found.map(({ file }) => file)).toEqual(['src/service/keys/rows.ts'])
})
