import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { texts } from './columns.ts'

/** Several subscriptions of a device: a synced passkey is one device on several phones. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await texts(
    schema
      .createTable('device_push')
      .addColumn('device_id', 'integer', (column) =>
        column.notNull().references('devices.id').onDelete('cascade'),
      )
      .addColumn('session_id', 'integer', (column) => column.notNull()),
    'endpoint_hash',
    'wrapped',
    'created_at',
  )
    .addPrimaryKeyConstraint('device_push_key', ['device_id', 'endpoint_hash'] as never[])
    .execute()
}
