import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { identity, index, texts, uniqueIndex } from './columns.ts'

export const up = async (db: Kysely<Tables>): Promise<void> => {
  const { schema } = db

  await texts(
    schema
      .createTable('approver_sessions')
      .addColumn('id', 'integer', identity)
      .addColumn('device_id', 'integer', (column) =>
        column.notNull().references('devices.id').onDelete('cascade'),
      ),
    'token_hash',
    'created_at',
    'last_seen_at',
    'expires_at',
  ).execute()
  await uniqueIndex(schema, 'approver_sessions_token', 'approver_sessions', ['token_hash'])
  await index(schema, 'approver_sessions_device', 'approver_sessions', ['device_id'])

  await texts(
    schema.createTable('spent_challenges').addColumn('hash', 'text', (column) => column.primaryKey()),
    'expires_at',
  ).execute()

  await texts(
    schema
      .createTable('push_subscriptions')
      .addColumn('device_id', 'integer', (column) =>
        column.primaryKey().references('devices.id').onDelete('cascade'),
      ),
    'wrapped',
    'created_at',
  ).execute()
}
