import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { ofOrganization, texts } from './columns.ts'

export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  const numbered = (name: keyof Tables) =>
    schema.createTable(name).addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
  await texts(
    ofOrganization(numbered('machines')),
    'machine_id',
    'machine_name',
    'stock_name',
    'total_price',
    'current_stock_price',
    'mobile',
    'created_at',
    'updated_at',
  )
    .addColumn('stock_symbol', 'text')
    .execute()
  await schema
    .createIndex('machines_machine')
    .unique()
    .on('machines')
    .columns(['org_id', 'machine_id'])
    .execute()

  // Logins that failed, also of machines that are not there.
  await texts(ofOrganization(schema.createTable('machine_failures')), 'machine_id', 'since')
    .addColumn('count', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('failures_of', ['org_id', 'machine_id'] as never[])
    .execute()
}
