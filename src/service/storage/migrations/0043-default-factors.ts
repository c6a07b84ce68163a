import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

/** Default factors of a request that nothing could be checked against, as JSON. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await schema.alterTable('approvals').addColumn('unchecked_factors', 'text').execute()
}
