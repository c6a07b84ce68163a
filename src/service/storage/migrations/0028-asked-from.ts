import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

/** The address that a request came from, and the interface. Both are null in older rows. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await schema.alterTable('approvals').addColumn('asked_from', 'text').execute()
  await schema.alterTable('approvals').addColumn('asked_via', 'text').execute()
}
