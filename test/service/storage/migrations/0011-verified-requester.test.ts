import { expect, test } from 'vitest'
import { up as administration } from '../../../../src/service/storage/migrations/0001-administration.ts'
import { up as approvals } from '../../../../src/service/storage/migrations/0002-approvals.ts'
import { up as verifiedRequester } from '../../../../src/service/storage/migrations/0011-verified-requester.ts'
import { openOldStore } from './old-store.ts'

test('keeps the mutes, each of every agent, and leaves room for one of a single agent', async () => {
  const { connection, db } = openOldStore()
  await administration(db)
  await approvals(db)
  connection.exec('PRAGMA foreign_keys = OFF')
  connection.exec(`INSERT INTO mutes (org_id, user_id, key_id, until) VALUES (1, 7, 0, 'a'), (1, 8, 2, 'b')`)
  await verifiedRequester(db)
  await db
    .insertInto('mutes')
    .values({ org_id: 1, user_id: 7, key_id: 0, agent: 'Cursor', until: 'c' })
    .execute()
  expect(await db.selectFrom('mutes').selectAll().orderBy('until').execute()).toMatchObject([
    { user_id: 7, key_id: 0, agent: '', until: 'a' },
    { user_id: 8, key_id: 2, agent: '', until: 'b' },
    { user_id: 7, key_id: 0, agent: 'Cursor', until: 'c' },
  ])
})
