import { deviceRecord } from '../../contract/device.ts'
import { sha256 } from '../../core/ids.ts'
import { forbidden, notFound, type Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { reachMember, reachOrganization } from '../call/tenant.ts'
import { devicesOf } from './active.ts'
import { type DeviceRow, isAuthenticDevice } from './rows.ts'

type ShownColumn = Exclude<keyof typeof deviceRecord.shape, 'comparison_code'>

/** What the service shows of a device: neither its key nor its handle. */
const shownColumns = Object.keys(deviceRecord.shape).filter(
  (name) => name !== 'comparison_code',
) as ShownColumn[]

export const deviceColumns = [...shownColumns, 'credential_id'] as const

type ShownDevice = Pick<DeviceRow, (typeof deviceColumns)[number]>

/** Tells a new device from one with the same name: both screens show it. A link registers one device, so nobody can look for an equal one. */
export const comparisonCode = ({ credential_id }: Pick<DeviceRow, 'credential_id'>): string =>
  String(Number.parseInt(sha256(credential_id).slice(0, 12), 16) % 1_000_000).padStart(6, '0')

/** A device as the service shows it, without any other column of the row. */
export const toDeviceRecord = (row: ShownDevice) => {
  const shown = Object.fromEntries(shownColumns.map((column) => [column, row[column]])) as Pick<
    DeviceRow,
    ShownColumn
  >
  return {
    ...shown,
    comparison_code: comparisonCode(row),
    backup_eligible: row.backup_eligible === null ? null : row.backup_eligible === 1,
    backed_up: row.backed_up === null ? null : row.backed_up === 1,
  }
}

/** Devices as the service shows them, without those that another program has changed: they may be of somebody else. */
export const toDeviceRecords = (call: Pick<Call, 'keyring'>, rows: readonly DeviceRow[]) =>
  rows.filter((row) => isAuthenticDevice(call, row)).map(toDeviceRecord)

export const findDevice = ({ db }: Pick<Call, 'db'>, org_id: number, device_id: number) =>
  db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('id', '=', device_id)
    .select([...deviceColumns, 'approved_at'])
    .executeTakeFirstOrThrow(() => notFound('Device'))

export const readDevice = ({ db }: Pick<Call, 'db'>, org_id: number, device_id: number) =>
  db.selectFrom('devices').where('org_id', '=', org_id).where('id', '=', device_id).selectAll()

/** A device that no other program has changed: whom it belongs to decides who is asked, and who is told. */
export const findOwnDevice = async (
  call: Pick<Call, 'db' | 'keyring'>,
  org_id: number,
  device_id: number,
): Promise<DeviceRow> => {
  const row = await readDevice(call, org_id, device_id).executeTakeFirstOrThrow(() => notFound('Device'))
  if (!isAuthenticDevice(call, row)) throw deviceNotAuthentic()
  return row
}

/** Whose a device is; undefined if there is none, or if another program has changed it. */
export const ownerOfDevice = async (
  call: Pick<Call, 'db' | 'keyring'>,
  org_id: number,
  device_id: number,
): Promise<number | undefined> => {
  const row = await readDevice(call, org_id, device_id).executeTakeFirst()
  return row && isAuthenticDevice(call, row) ? row.user_id : undefined
}

/** The row in the store is not the one that the service wrote. */
export const deviceNotAuthentic = (): Refusal =>
  forbidden(
    'device_not_authentic',
    'Another program has changed this device in the store, so it is not used',
    'Revoke it, and register it again: svc audit altered shows it, svc user devices revoke, svc user enroll',
  )

type InactiveDevice = Pick<
  DeviceRow,
  'id' | 'org_id' | 'user_id' | 'state' | 'proof' | 'active_from' | 'credential_id'
>

/** What a pending device waits for, and what to do about it. */
const pendingReason = ({
  id,
  org_id,
  user_id,
  proof,
  active_from,
}: InactiveDevice): [reason: string, hint: string] => {
  if (active_from !== null)
    return [`becomes active at ${active_from} unless someone refuses it`, 'Sign in again then']
  if (proof === 'device')
    return [
      'is waiting for the approval of another device of its user',
      `Approve it on the approver page of another device of the user. If they are lost, revoke them: svc user devices list ${user_id} --org ${org_id} shows their ids`,
    ]
  if (proof === 'admin')
    return [
      'is waiting for the approval of an administrator',
      `An administrator approves it on the approver page, under Devices. Without another administrator, the operator: svc user devices approve ${id} --org ${org_id} --comparison-code DIGITS`,
    ]
  return [
    "is waiting for the code that was sent to its user's mobile",
    'Type the code on the approver page of this device',
  ]
}

/** Why a device cannot be used; `more` goes into the data of the answer. */
export const inactiveDevice = (device: InactiveDevice, more?: Record<string, unknown>): Refusal => {
  const { id, state, proof, active_from } = device
  if (state === 'pending') {
    const [reason, hint] = pendingReason(device)
    const comparison_code = comparisonCode(device)
    const data = { ...more, device: { id: String(id), proof, active_from, comparison_code } }
    return forbidden('device_pending', `This device ${reason}`, hint, data)
  }
  return state === 'refused'
    ? forbidden('device_refused', 'This device was refused', 'Ask for a new link: svc user enroll', more)
    : forbidden('device_revoked', 'This device is revoked', 'Register it again: svc user enroll', more)
}

export const listDevices: HandlerOf<'listDevices'> = async (member, call) => {
  await reachOrganization(call, member.org_id)
  await reachMember(call, member)
  return toDeviceRecords(call, await devicesOf(call.db, member).selectAll().execute())
}
