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

/** What is signed from now on has format 2. A request that is pending in format 1 ends with the next sweep. */
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
