import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { ofMember, texts } from './columns.ts'

export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema.alterTable('approvals').addColumn('verified_as', 'text').execute()

  // A mute applies to one agent if several share a credential. SQLite cannot change a primary key, so the table is replaced.
  const mutes = await db.selectFrom('mutes').select(['org_id', 'user_id', 'key_id', 'until']).execute()
  await db.schema.dropTable('mutes').execute()
  await texts(
    ofMember(db.schema.createTable('mutes')).addColumn('key_id', 'integer', (column) => column.notNull()),
    'until',
  )
    .addColumn('agent', 'text', (column) => column.notNull().defaultTo(''))
    .addPrimaryKeyConstraint('mute_of', ['org_id', 'user_id', 'key_id', 'agent'] as never[])
    .execute()
  for (const mute of mutes) await db.insertInto('mutes').values(mute).execute()
}
