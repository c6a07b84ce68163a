import type { auth } from '../../contract/auth.ts'
import { invalid } from '../../core/refusal.ts'
import type { Policy } from '../../rules/decide.ts'
import type { Device } from '../../rules/device.ts'
import type { Call } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import { devicesOf } from '../devices/active.ts'
import { parseImei } from '../devices/imei.ts'
import { isAuthenticDevice } from '../devices/rows.ts'
import type { Db } from '../storage/schema.ts'

type Member = { org_id: number; user_id: number }
type DeviceInfo = RowInput<typeof auth.submitAuthResults>['device_info']

const field = 'device_info.device_id'

/** What the app of this organization registered its phone with, or else the one with which the person asked to join. */
const registeredPhones = (db: Db, { org_id, user_id }: Member) =>
  db
    .selectFrom('mobile_accounts')
    .where('user_id', '=', user_id)
    .where('org_id', 'in', [org_id, 0])
    .select(['device_id', 'imei'])
    .orderBy('org_id', 'desc')
    .execute()

const isImeiOf = (text: string, imei: string | null): boolean =>
  imei !== null && text.replace(/[\s/-]/g, '').slice(0, 14) === parseImei(imei).phone

/** A device of this user by any id that a client can know: ours, that of its credential, or what its app registered with. */
const findDevice = async (
  { db, dev, keyring }: Call,
  { org_id, user_id }: Member,
  { device_id, imei }: DeviceInfo,
): Promise<Device | undefined> => {
  const known = await devicesOf(db, { org_id, user_id })
    .$if(!dev, (query) => query.where('kind', '=', 'phone'))
    .where('state', 'in', ['active', 'revoked'])
    .selectAll()
    .execute()
  const rows = known.filter((one) => isAuthenticDevice({ keyring }, one))
  const row = rows.find(({ id, credential_id }) => String(id) === device_id || credential_id === device_id)
  const phones = await registeredPhones(db, { org_id, user_id })
  const phone = phones.find((one) => one.device_id === device_id || isImeiOf(device_id, one.imei))
  if (!row && !phone) return undefined
  const imeiOf = phones.find((one) => one.imei !== null)?.imei
  return {
    id: row?.id ?? device_id,
    registered_to: user_id,
    revoked: row !== undefined && row.state !== 'active',
    ...(imei !== undefined && imeiOf && { known_imei: parseImei(imeiOf).phone, imei: parseImei(imei).phone }),
  }
}

/** Whether the organization configured that the device counts. */
const isEnforced = ({ deviceTrust, required, reportOnly }: Policy): boolean =>
  (deviceTrust || required.includes('device')) && !reportOnly.includes('device')

/**
 * The device as the rules read it. One that is not known is 422 where the device counts, so that nothing is spent by a wrong
 * id; elsewhere it is not looked at.
 */
export const deviceOf = async (
  call: Call,
  member: Member,
  info: DeviceInfo,
  rules: Policy,
): Promise<{ device: Device; isKnown: boolean }> => {
  const device = await findDevice(call, member, info)
  if (device) return { device, isKnown: true }
  if (isEnforced(rules))
    throw invalid(
      field,
      'is not the id of a registered device of this user',
      `svc user devices list ${member.user_id} shows the ids; the device_id or IMEI that the app registered with counts too`,
    )
  return { device: { id: info.device_id, registered_to: null, revoked: false }, isKnown: false }
}
