import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

const texts = [
  'subject_type',
  'subject_data',
  'subject_digest',
  'key_name',
  'key_scopes',
  'org_slug',
  'use_by',
  'used_at',
]

/** New requests have format 2. The next sweep ends pending requests of format 1. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  for (const name of texts) await schema.alterTable('approvals').addColumn(name, 'text').execute()
  for (const [name, value] of [
    ['key_influences', 0],
    ['use_within_s', 600],
    ['format', 1],
  ] as const)
    await schema
      .alterTable('approvals')
      .addColumn(name, 'integer', (column) => column.notNull().defaultTo(value))
      .execute()
}
