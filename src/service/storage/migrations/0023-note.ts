import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

/** The note of a denial. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await schema.alterTable('approvals').addColumn('note', 'text').execute()
}
