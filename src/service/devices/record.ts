import type { Call } from '../call.ts'
import { notFound } from '../refusal.ts'

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

type Row = { backup_eligible: 0 | 1 | null }

/** A row as it is answered. */
export const answeredDevice = <R extends Row>(row: R) => ({
  ...row,
  backup_eligible: row.backup_eligible === null ? null : row.backup_eligible === 1,
})

export const findDevice = ({ db }: Pick<Call, 'db'>, org_id: number, device_id: number) =>
  db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('id', '=', device_id)
    .select([...deviceColumns, 'approved_at'])
    .executeTakeFirstOrThrow(() => notFound('Device'))
