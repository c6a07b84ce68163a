import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { identity, index, texts, uniqueIndex } from './columns.ts'

export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  // No foreign key to an organization: 0 is the service itself, and records outlive their organization.
  await texts(
    schema
      .createTable('outbox')
      .addColumn('id', 'integer', identity)
      .addColumn('org_id', 'integer', (column) => column.notNull()),
    'message_id',
    'channel',
    'kind',
    'recipient',
    'state',
    'next_at',
    'created_at',
    'updated_at',
  )
    .addColumn('wrapped', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'text')
    .addColumn('provider_id', 'text')
    .addColumn('error', 'text')
    .execute()
  await uniqueIndex(schema, 'outbox_message', 'outbox', ['message_id'])
  await index(schema, 'outbox_due', 'outbox', ['channel', 'state', 'next_at'])
  await index(schema, 'outbox_org', 'outbox', ['org_id', 'id'])
}
