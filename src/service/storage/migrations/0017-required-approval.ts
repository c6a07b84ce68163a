import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

/** `by_rule` marks requests that the service created because a rule of the organization requires an approval. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await schema
    .alterTable('approvals')
    .addColumn('by_rule', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
}
