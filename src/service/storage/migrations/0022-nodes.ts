import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { texts } from './columns.ts'

const counts = ['schema_version', 'requests', 'waiting', 'connections', 'connections_limit'] as const

export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  let table = texts(
    schema.createTable('nodes').addColumn('id', 'text', (column) => column.primaryKey()),
    'address',
    'state',
    'version',
    'started_at',
    'seen_at',
  )
  for (const name of counts) table = table.addColumn(name, 'integer', (column) => column.notNull())
  await table.addColumn('writes_per_second', 'double precision', (column) => column.notNull()).execute()
}
