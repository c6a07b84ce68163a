import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { index } from './columns.ts'

/** What a person sees of their devices, and the order in which they read what they were asked. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await schema.alterTable('devices').addColumn('backed_up', 'integer').execute()
  await schema.alterTable('devices').addColumn('attachment', 'text').execute()
  await index(schema, 'approvals_history', 'approvals', ['org_id', 'user_id', 'requested_at', 'id'])
}
