import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { index, ofOrganization, texts } from './columns.ts'

export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  // Only what the operator has set; `value` is JSON.
  await texts(ofOrganization(schema.createTable('organization_limits')), 'name', 'value')
    .addPrimaryKeyConstraint('limit_of', ['org_id', 'name'] as never[])
    .execute()

  // Existing responses count for no organization; they expire within a day.
  await schema.alterTable('idempotency').addColumn('org_id', 'integer').execute()
  await schema
    .alterTable('idempotency')
    .addColumn('bytes', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await index(schema, 'idempotency_org', 'idempotency', ['org_id', 'created_at', 'bytes'])

  for (const column of ['cleared_at', 'receipt_digest'] as const)
    await schema.alterTable('approvals').addColumn(column, 'text').execute()
  await index(schema, 'approvals_kept', 'approvals', ['cleared_at', 'ended_at'])
  await index(schema, 'verifications_created', 'verifications', ['created_at'])
}
