import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

/** For lists by time, newest first. Each index has the filtered columns first, then the time and the key. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  const index = (table: keyof Tables, name: string, columns: readonly string[]) =>
    schema
      .createIndex(`${table}_${name}`)
      .on(table)
      .columns([...columns])
      .execute()

  await index('audit', 'at', ['org_id', 'at', 'seq'])
  for (const column of ['actor', 'action', 'subject'])
    await index('audit', column, ['org_id', column, 'at', 'seq'])

  await index('approvals', 'at', ['requested_at', 'id'])
  await index('approvals', 'org_at', ['org_id', 'requested_at', 'id'])
  await index('approvals', 'org_status', ['org_id', 'status', 'requested_at', 'id'])
  await index('approvals', 'approver', ['org_id', 'approver_mobile', 'requested_at', 'id'])

  await index('outbox', 'at', ['created_at', 'id'])
  await index('outbox', 'org_at', ['org_id', 'created_at', 'id'])
  await index('outbox', 'state', ['state', 'created_at', 'id'])
  await index('outbox', 'updated', ['updated_at'])
}
