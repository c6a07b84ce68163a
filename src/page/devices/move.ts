import { callHeld } from '../shell/held.ts'
import { call, Refused, type Session } from '../calls/api.ts'
import { assert } from '../calls/webauthn.ts'

export type DeviceMove = 'approve' | 'refuse' | 'remove' | 'remove_last'

const already: Record<DeviceMove, string> = {
  approve: 'device_active',
  refuse: 'device_refused',
  remove: 'device_revoked',
  remove_last: 'device_revoked',
}

/**
 * Changes a device; this device signs it. Returns when the device becomes active, or null. If the answer to an earlier tap was
 * lost, the device is in the wanted state already, which is what the person wanted.
 */
export const moveDevice = async (
  { org_id: org, rp_id, credential_id }: Session,
  device_id: string,
  move: DeviceMove,
  withAdded = false,
): Promise<string | null> => {
  const target = { device_id, move, ...(withAdded && { with_added: true }) }
  try {
    const { challenge } = await call('beginDeviceMove', target, { org })
    const response = await assert(rp_id, challenge, credential_id)
    const { state, active_from } = await callHeld('moveDevice', { ...target, challenge, response }, { org })
    return state === 'pending' ? active_from : null
  } catch (error) {
    if (error instanceof Refused && error.code === already[move]) return null
    throw error
  }
}
