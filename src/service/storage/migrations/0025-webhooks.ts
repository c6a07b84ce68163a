import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { index, texts } from './columns.ts'

export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  // No foreign key to an organization: 0 is the service itself.
  await texts(
    schema.createTable('webhooks').addColumn('webhook_id', 'text', (column) => column.primaryKey()),
    'types',
    'wrapped',
    'state',
    'created_at',
    'updated_at',
  )
    .addColumn('org_id', 'integer', (column) => column.notNull())
    .addColumn('cursor_seq', 'integer', (column) => column.notNull())
    .addColumn('failing_since', 'text')
    .addColumn('error', 'text')
    .execute()
  await index(schema, 'webhooks_org', 'webhooks', ['org_id'])
  await index(schema, 'outbox_recipient', 'outbox', ['channel', 'recipient', 'state'])
}
