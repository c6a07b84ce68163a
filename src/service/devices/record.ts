import type { Call } from '../call/call.ts'
import { notFound } from '../../core/refusal.ts'
import type { DeviceRow } from './rows.ts'

/** What the service tells of a device: neither its key nor its handle. */
export const deviceColumns = [
  'id',
  'org_id',
  'user_id',
  'name',
  'kind',
  'state',
  'proof',
  'registered_at',
  'bound_at',
  'active_from',
  'enrolled_by',
  'aaguid',
  'backup_eligible',
  'attestation_format',
  'last_used_at',
  'revoked_at',
] as const

type Shown = Pick<DeviceRow, (typeof deviceColumns)[number]>

/** A row as it is answered: the columns above, whatever was read. */
export const answeredDevice = (row: Shown) => {
  const shown = Object.fromEntries(deviceColumns.map((column) => [column, row[column]])) as Shown
  return { ...shown, backup_eligible: row.backup_eligible === null ? null : row.backup_eligible === 1 }
}

export const findDevice = ({ db }: Pick<Call, 'db'>, org_id: number, device_id: number) =>
  db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('id', '=', device_id)
    .select([...deviceColumns, 'approved_at'])
    .executeTakeFirstOrThrow(() => notFound('Device'))
