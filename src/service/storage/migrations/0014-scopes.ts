import { sql, type Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

/** Every scope that existed then, so that older keys keep working. */
const all = 'ask,read,people,rules,devices,keys,notify,app'

export const up = async (db: Kysely<Tables>): Promise<void> => {
  const keys = db.schema.alterTable('api_keys')
  await keys.addColumn('scopes', 'text', (column) => column.notNull().defaultTo('')).execute()
  await keys.addColumn('created_by', 'integer').execute()
  await keys.addColumn('owner_user_id', 'integer').execute()
  await keys.addColumn('replaced', 'integer', (column) => column.notNull().defaultTo(0)).execute()
  await db.updateTable('api_keys').set({ scopes: all }).execute()
  // Until now only a rotation set an expiry.
  await db.updateTable('api_keys').set({ replaced: 1 }).where('expires_at', 'is not', null).execute()
  await sql`create index api_keys_created_by on api_keys (created_by)`.execute(db)
}
