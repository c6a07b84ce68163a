import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { up as administration } from '../../../../src/service/storage/migrations/0001-administration.ts'
import { up as approvals } from '../../../../src/service/storage/migrations/0002-approvals.ts'
import { up as keyLineage } from '../../../../src/service/storage/migrations/0009-key-lineage.ts'
import type { Tables } from '../../../../src/service/storage/schema.ts'
import { openOldStore } from './old-store.ts'

const ended = '2030-01-01T00:00:00.000Z'

/** A store of an older schema, with the rows that `fill` adds. */
const migrated = async (fill: (sql: (text: string) => void) => void): Promise<Kysely<Tables>> => {
  const { connection, db } = openOldStore()
  await administration(db)
  await approvals(db)
  connection.exec('PRAGMA foreign_keys = OFF')
  fill((text) => connection.exec(text))
  await keyLineage(db)
  return db
}

const key = (id: number, name: string, org: number | null, expires: string | null, revoked: string | null) =>
  `INSERT INTO api_keys (id, name, org_id, prefix, hash, created_at, expires_at, revoked_at) VALUES
   (${[id, name, org, `p${id}`, 'h', ended, expires, revoked].map((one) => (one === null ? 'NULL' : `'${one}'`)).join()})`

test('distinguishes a rotation from a name that was used again', async () => {
  const db = await migrated((sql) => {
    sql(key(1, 'ci', 1, ended, null))
    sql(key(2, 'ci', null, null, null))
    sql(key(3, 'ci', 1, ended, ended))
    sql(key(4, 'ci', 2, null, null))
    sql(key(5, 'ci', 1, null, ended))
    sql(key(6, 'ci', 1, ended, null))
    sql(key(7, 'ci', 1, null, null))
  })
  const rows = await db.selectFrom('api_keys').select(['id', 'lineage']).orderBy('id').execute()
  expect(rows.map(({ lineage }) => lineage)).toEqual([null, null, 1, null, 1, null, 6])
})

test('requests and mutes go to the first secret, and the longer mute stays', async () => {
  const db = await migrated((sql) => {
    sql(key(1, 'ci', 1, ended, null))
    sql(key(2, 'ci', 1, null, null))
    for (const gateway of [0, 1, 2])
      sql(`INSERT INTO approvals (request_id, org_id, user_id, key_id, requester, action, approver_mobile, factors, nonce,
           requested_at, expires_at) VALUES ('a${gateway}', 1, 7, ${gateway}, 'x', 'x', 'x', '[]', 'x', '${ended}', '${ended}')`)
    sql(`INSERT INTO mutes (org_id, user_id, key_id, until) VALUES (1, 7, 1, 'b'), (1, 7, 2, 'a'), (1, 8, 1, 'b'),
         (1, 8, 2, 'c'), (1, 9, 2, 'd')`)
  })
  expect(await db.selectFrom('approvals').select(['key_id', 'asked_by']).orderBy('id').execute()).toEqual([
    { key_id: 0, asked_by: 0 },
    { key_id: 1, asked_by: 1 },
    { key_id: 2, asked_by: 1 },
  ])
  const mutes = await db
    .selectFrom('mutes')
    .select(['user_id', 'key_id', 'until'])
    .orderBy('user_id')
    .execute()
  expect(mutes).toEqual([
    { user_id: 7, key_id: 1, until: 'b' },
    { user_id: 8, key_id: 1, until: 'c' },
    { user_id: 9, key_id: 1, until: 'd' },
  ])
})
