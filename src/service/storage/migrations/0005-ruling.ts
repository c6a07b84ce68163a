import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await schema.alterTable('approvals').addColumn('ruling', 'text').execute()
}
