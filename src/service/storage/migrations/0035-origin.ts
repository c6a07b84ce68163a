import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { identity, index, ofOrganization, texts, uniqueIndex } from './columns.ts'

/** By which key or device a device, an agent or an administrator came to be. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  const column = (table: 'enrollments' | 'devices' | 'api_keys', name: string) =>
    schema.alterTable(table).addColumn(name, 'integer').execute()
  await column('enrollments', 'added_by')
  await column('devices', 'added_by')
  await column('devices', 'approved_by')
  await column('devices', 'approved_by_key')
  await column('api_keys', 'consented_with')
  await index(schema, 'devices_added_by', 'devices', ['added_by'])
  await index(schema, 'devices_enrolled_by', 'devices', ['enrolled_by'])
  await index(schema, 'api_keys_consented_with', 'api_keys', ['consented_with'])
  await texts(
    // A row outlives its membership: the devices that the administrator added or approved still refer to it.
    ofOrganization(schema.createTable('appointments').addColumn('id', 'integer', identity))
      .addColumn('user_id', 'integer', (column) => column.notNull())
      .addColumn('by_key', 'integer')
      .addColumn('by_device', 'integer')
      .addColumn('row_mac', 'text'),
    'appointed_at',
  ).execute()
  await uniqueIndex(schema, 'appointments_of_member', 'appointments', ['org_id', 'user_id'])
}
