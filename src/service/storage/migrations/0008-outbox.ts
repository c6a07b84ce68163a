import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { identity, texts } from './columns.ts'

export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  // No foreign key to an organization: 0 is the service itself, and what was sent stays told.
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
  await schema.createIndex('outbox_message').unique().on('outbox').column('message_id').execute()
  await schema.createIndex('outbox_due').on('outbox').columns(['channel', 'state', 'next_at']).execute()
  await schema.createIndex('outbox_org').on('outbox').columns(['org_id', 'id']).execute()
}
