import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

/** Its one row is written after the migrations, whatever the engine. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await schema
    .createTable('schema_version')
    .addColumn('version', 'integer', (column) => column.notNull())
    .execute()
}
