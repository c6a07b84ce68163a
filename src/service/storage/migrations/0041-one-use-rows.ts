import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

/** Rows that are valid once. The ones that exist have no MAC, so these links and sign-ins end. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  for (const table of ['verifications', 'refresh_tokens', 'email_verifications'] as const)
    await schema.alterTable(table).addColumn('row_mac', 'text').execute()
  await schema.alterTable('refresh_tokens').addColumn('user_id', 'integer').execute()
}
