import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { index } from './columns.ts'

/** Who owns the requesting key, and which members have names that look alike. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await schema.alterTable('approvals').addColumn('key_owner', 'text').execute()
  await schema
    .alterTable('memberships')
    .addColumn('look_alike', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await index(schema, 'memberships_look_alike', 'memberships', ['org_id', 'look_alike'])
}
