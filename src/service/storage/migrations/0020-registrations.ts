import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { identity, index, ofPerson, texts } from './columns.ts'

/** A number can have several registrations, each with a token. SQLite cannot change a primary key. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  const kept = await db
    .selectFrom('registrations')
    .select(['org_id', 'user_id', 'profile', 'created_at', 'expires_at'])
    .execute()
  await db.schema.dropTable('registrations').execute()
  await texts(
    ofPerson(
      db.schema
        .createTable('registrations')
        .addColumn('id', 'integer', identity)
        .addColumn('org_id', 'integer', (column) => column.notNull()),
    ),
    'profile',
    'created_at',
    'expires_at',
  )
    .addColumn('token_hash', 'text')
    .execute()
  await index(db.schema, 'registrations_user', 'registrations', ['user_id', 'org_id'])
  for (const registration of kept) await db.insertInto('registrations').values(registration).execute()
}
