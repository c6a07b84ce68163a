import type { device } from '../../contract/device.ts'
import { notFound, Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { reachMember, reachOrganization } from '../call/tenant.ts'
import { devicesOf } from '../devices/active.ts'
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

type Standing = Pick<DeviceRow, 'id' | 'state' | 'proof' | 'active_from'>

/** What a pending device waits for, in words. */
const waitingFor = ({ proof, active_from }: Standing): string => {
  if (active_from !== null) return `becomes active at ${active_from} unless somebody refuses it`
  if (proof === 'device') return 'waits for the approval of another device of its user'
  if (proof === 'admin') return 'waits for the approval of an administrator'
  return "waits for the code that was sent to its user's mobile"
}

const nextFor = ({ id, proof, active_from }: Standing): string => {
  if (active_from !== null) return 'Sign in again then'
  if (proof === 'device')
    return 'Approve it on the approver page of another device of the user. If they are lost, revoke them: svc user devices revoke'
  if (proof === 'admin')
    return `An administrator approves it on the approver page, under Devices. Without another administrator, the operator: svc user devices approve ${id}`
  return 'Type the code on the approver page of this device'
}

/** Its row in the store is not what the service wrote. */
export const deviceNotAuthentic = (): Refusal =>
  new Refusal(
    403,
    'device_not_authentic',
    'Another program has changed this device in the store, so it is not used',
    {
      hint: 'Revoke it, and register it again: svc user devices revoke, svc user enroll <user-id>',
    },
  )

/** Why a device does not count; `device_pending` says what it waits for. */
export const inactiveDevice = (device: Standing): Refusal => {
  if (device.state === 'pending')
    return new Refusal(403, 'device_pending', `This device ${waitingFor(device)}`, {
      hint: nextFor(device),
      data: { device: { id: String(device.id), proof: device.proof, active_from: device.active_from } },
    })
  if (device.state === 'refused')
    return new Refusal(403, 'device_refused', 'This device was refused', {
      hint: 'Ask for a new link: svc user enroll <user-id>',
    })
  return new Refusal(403, 'device_revoked', 'This device is revoked', {
    hint: 'Register it again: svc user enroll <user-id>',
  })
}

export const listDevices: HandlerOf<typeof device.listDevices> = async ({ org_id, user_id }, call) => {
  await reachOrganization(call, org_id)
  await reachMember(call, { org_id, user_id })
  const rows = await devicesOf(call.db, { org_id, user_id }).select(deviceColumns).execute()
  return rows.map(answeredDevice)
}
