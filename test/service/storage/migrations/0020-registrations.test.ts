import { expect, test } from 'vitest'
import { up as administration } from '../../../../src/service/storage/migrations/0001-administration.ts'
import { up as mobile } from '../../../../src/service/storage/migrations/0006-mobile.ts'
import { up as registrations } from '../../../../src/service/storage/migrations/0020-registrations.ts'
import { openOldStore } from './old-store.ts'

const at = '2030-01-01T00:00:00.000Z'

test('keeps a registration that is not confirmed yet, without a token', async () => {
  const { connection, db } = openOldStore()
  await administration(db)
  await mobile(db)
  connection.exec(
    `INSERT INTO people (id, mobile, country_code, created_at) VALUES (7, '+12025550101', '+1', '${at}')`,
  )
  connection.exec(
    `INSERT INTO registrations (org_id, user_id, profile, created_at, expires_at) VALUES (3, 7, '{}', '${at}', '${at}')`,
  )
  await registrations(db)
  expect(await db.selectFrom('registrations').selectAll().execute()).toEqual([
    { id: 1, org_id: 3, user_id: 7, profile: '{}', created_at: at, expires_at: at, token_hash: null },
  ])
})
