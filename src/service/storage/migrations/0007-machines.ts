import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { identity, ofOrganization, texts, uniqueIndex } from './columns.ts'

export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  const numbered = (name: keyof Tables) => schema.createTable(name).addColumn('id', 'integer', identity)
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
    .addColumn('stock_title', 'text')
    .execute()
  await uniqueIndex(schema, 'machines_machine', 'machines', ['org_id', 'machine_id'])
}
