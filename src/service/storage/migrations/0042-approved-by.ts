import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { index } from './columns.ts'

/** Finds the devices that a device approved. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  await index(schema, 'devices_approved_by', 'devices', ['approved_by'])
}
