import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await schema.alterTable('mobile_accounts').addColumn('device_id', 'text').execute()
}
