import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openConnection } from '../../../../src/service/storage/connection.ts'
import { up as administration } from '../../../../src/service/storage/migrations/0001-administration.ts'
import { up as approvals } from '../../../../src/service/storage/migrations/0002-approvals.ts'
import { up as whoAsks } from '../../../../src/service/storage/migrations/0011-who-asks.ts'
import type { Tables } from '../../../../src/service/storage/schema.ts'
import { temporaryFolder } from '../../../e2e/processes.ts'

test('keeps the mutes, each of every agent, and leaves room for one of a single agent', async () => {
  const folder = temporaryFolder()
  const connection = openConnection(join(folder.path, 'old.db'))
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: connection }) })
  onTestFinished(() => {
    connection.close()
    folder.remove()
  })
  await administration(db)
  await approvals(db)
  connection.exec('PRAGMA foreign_keys = OFF')
  connection.exec(`INSERT INTO mutes (org_id, user_id, key_id, until) VALUES (1, 7, 0, 'a'), (1, 8, 2, 'b')`)
  await whoAsks(db)
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
