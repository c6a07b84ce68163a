import type { approverDevices } from '../../contract/approver-devices.ts'
import {
  beginDeviceMove,
  beginDeviceRefusal,
  listOwnDevices,
  moveDevice,
  refuseNewDevice,
  sendDeviceCode,
} from '../approver/device-moves.ts'
import type { Handlers } from '../call/call.ts'

export const approverDeviceHandlers: Handlers<typeof approverDevices> = {
  listOwnDevices,
  beginDeviceMove,
  moveDevice,
  sendDeviceCode,
  beginDeviceRefusal,
  refuseNewDevice,
}
