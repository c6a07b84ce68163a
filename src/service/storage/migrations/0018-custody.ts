import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

/** A migration has no master key, so the next start authenticates the rows. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  for (const table of ['signing_keys', 'devices', 'enrollments', 'people', 'approvals'] as const)
    await schema.alterTable(table).addColumn('row_mac', 'text').execute()
  await schema.alterTable('api_keys').addColumn('wrapped_hash', 'text').execute()
}
