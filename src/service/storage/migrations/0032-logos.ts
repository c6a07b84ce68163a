import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { texts } from './columns.ts'

export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await texts(
    schema
      .createTable('logos')
      .addColumn('org_id', 'integer', (column) =>
        column.primaryKey().references('organizations.id').onDelete('cascade'),
      ),
    'type',
    'hash',
    'image',
    'updated_at',
  ).execute()
}
