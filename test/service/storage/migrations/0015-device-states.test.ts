import { expect, test } from 'vitest'
import { migrations } from '../../../../src/service/storage/migrations.ts'
import { migrate } from '../../../../src/service/storage/sqlite/migrate.ts'
import { openOldStore } from './old-store.ts'

const at = '2030-01-01T00:00:00.000Z'

const openOld = async () => {
  const { connection, db } = openOldStore()
  const before = migrations.findIndex(({ name }) => name === '0015-device-states')
  for (const { up } of migrations.slice(0, before)) await up(db)
  connection.exec(`PRAGMA user_version = ${before}`)
  connection.exec(`
    INSERT INTO organizations (id, name, slug, policy, created_at, updated_at) VALUES (1, 'Acme', 'acme', '{}', '${at}', '${at}');
    INSERT INTO people (id, mobile, national, country_code, created_at) VALUES (1, '+12025550101', '2025550101', '+1', '${at}');
    INSERT INTO memberships (org_id, user_id, email, first_name, last_name, role, state, created_at, updated_at)
      VALUES (1, 1, '', 'Ada', 'Lovelace', 'admin', 'active', '${at}', '${at}');
    INSERT INTO mutes (org_id, user_id, key_id, until) VALUES (1, 1, 2, '${at}');`)
  for (const id of [5, 6, 9])
    connection.exec(`
      INSERT INTO devices (id, org_id, user_id, name, kind, credential_id, public_key, user_handle, registered_at, algorithm, counter, revoked_at)
        VALUES (${id}, 1, 1, 'Pixel', 'phone', 'c${id}', 'k', 'h', '${at}', -7, 0, ${id === 6 ? `'${at}'` : 'NULL'})`)
  connection.exec(`
    DELETE FROM devices WHERE id = 9;
    INSERT INTO approver_sessions (device_id, token_hash, created_at, last_seen_at, expires_at)
      VALUES (5, 't', '${at}', '${at}', '${at}')`)
  return { connection, db }
}

test('devices become active or revoked by link, and whoever is signed in stays so', async () => {
  const { connection, db } = await openOld()
  await migrate(connection, db)
  expect(await db.selectFrom('devices').selectAll().orderBy('id').execute()).toMatchObject([
    { id: 5, state: 'active', proof: 'link', bound_at: at, revoked_at: null, enrolled_by: null },
    { id: 6, state: 'revoked', proof: 'link', bound_at: at, revoked_at: at },
  ])
  expect(await db.selectFrom('approver_sessions').selectAll().execute()).toHaveLength(1)
  const { seq } = connection.prepare(`SELECT seq FROM sqlite_sequence WHERE name = 'devices'`).all([])[0] as {
    seq: number
  }
  // The id of a deleted device is never assigned again.
  expect(seq).toBe(9)
})

test('devices and mutes stay when a membership is deleted, and go with the organization', async () => {
  const { connection, db } = await openOld()
  await migrate(connection, db)
  const count = async () => [
    (await db.selectFrom('devices').select('id').execute()).length,
    (await db.selectFrom('mutes').select('key_id').execute()).length,
  ]
  await db.deleteFrom('memberships').execute()
  expect(await count()).toEqual([2, 1])
  await db.deleteFrom('organizations').execute()
  expect(await count()).toEqual([0, 0])
})

test('a credential is still of one device', async () => {
  const { connection, db } = await openOld()
  await migrate(connection, db)
  expect(() => connection.exec(`UPDATE devices SET credential_id = 'c5'`)).toThrow(/UNIQUE/)
})
