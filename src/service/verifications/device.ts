import { invalid } from '../../core/refusal.ts'
import type { Policy } from '../../factors/decide.ts'
import type { Device } from '../../factors/device.ts'
import type { Call } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import type { Member } from '../call/tenant.ts'
import { readAccounts } from '../devices/accounts.ts'
import { countedDevices } from '../devices/active.ts'
import { parseImei } from '../devices/imei.ts'
import { isAuthenticDevice } from '../devices/rows.ts'

type DeviceInfo = RowInput<'submitAuthResults'>['device_info']

const isImeiOf = (text: string, imei: string | null): boolean =>
  imei !== null && text.replace(/[\s/-]/g, '').slice(0, 14) === parseImei(imei).phone

/** Finds a device of this user by any id that a client can know: ours, its credential's, or its app's. */
const findDevice = async (
  call: Call,
  member: Member,
  { device_id, imei }: DeviceInfo,
): Promise<Device | undefined> => {
  const known = await countedDevices(call, member).where('state', 'in', ['active', 'revoked']).execute()
  const rows = known.filter((one) => isAuthenticDevice(call, one))
  const row = rows.find(({ id, credential_id }) => String(id) === device_id || credential_id === device_id)
  // The phone that the app of this organization registered, then the one with which the person joined.
  const phones = await readAccounts(call, member)
  const phone = phones.find((one) => one.device_id === device_id || isImeiOf(device_id, one.imei))
  if (!row && !phone) return undefined
  const registeredImei = phones.find((one) => one.imei !== null)?.imei
  return {
    id: row?.id ?? device_id,
    registered_to: member.user_id,
    revoked: row !== undefined && row.state !== 'active',
    ...(imei !== undefined &&
      registeredImei && { known_imei: parseImei(registeredImei).phone, imei: parseImei(imei).phone }),
  }
}

/** Whether the policy of the organization requires the device. */
const isEnforced = ({ deviceTrust, required, reportOnly }: Policy): boolean =>
  (deviceTrust || required.includes('device')) && !reportOnly.includes('device')

/**
 * The device as the rules read it. If the policy requires it, an unknown device is a 422, so that a wrong id does not use up
 * the verification.
 */
export const identifyDevice = async (
  call: Call,
  member: Member,
  info: DeviceInfo,
  rules: Policy,
): Promise<{ device: Device; isKnown: boolean }> => {
  const device = await findDevice(call, member, info)
  if (device) return { device, isKnown: true }
  if (isEnforced(rules))
    throw invalid(
      'device_info.device_id',
      'is not the id of a registered device of this user',
      `svc user devices list ${member.user_id} shows the ids; the device_id or IMEI that the app registered with counts too`,
    )
  return { device: { id: info.device_id, registered_to: null, revoked: false }, isKnown: false }
}
