import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

/** Recognizes a decision that is sent again. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await schema.alterTable('approvals').addColumn('decision_digest', 'text').execute()
}
