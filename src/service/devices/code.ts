import type { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { type Member, readMobile, organizationRow } from '../call/tenant.ts'
import { notifyMember } from './notices.ts'
import { checkOtp, sendOneTimeCode, type SentOtp } from './otp.ts'
import { settlePending } from './proof.ts'
import { changeDeviceRows } from './rows.ts'

type PendingDevice = Member & { id: number }

/** Each device has its own code. A code for anything else never activates a device, nor the other way round. */
const codeOwner = async (call: Call, { org_id, user_id, id }: PendingDevice) => ({
  org_id,
  mobile: await readMobile(call, user_id),
  purpose: `device:${id}`,
})

/** Sends the code that proves a device to the mobile of its member. */
export const sendCode = async (call: Call, device: PendingDevice): Promise<SentOtp> => {
  const { name } = await organizationRow(call.db, device.org_id)
  return sendOneTimeCode(
    call,
    await codeOwner(call, device),
    (otp, minutes) =>
      `${otp} registers a phone that approves requests of ${name}. Type it only on that phone, within ${minutes} minutes. If it is not yours, tell your administrator.`,
  )
}

/** Uses up the code and activates the device. A Refusal is returned and not thrown, so that the attempt counts. */
export const confirmDevice = async (
  call: Call,
  device: PendingDevice,
  otp: string,
  actor: string,
): Promise<Refusal | undefined> => {
  const wrong = await checkOtp(call, { ...(await codeOwner(call, device)), otp })
  if (wrong) return wrong
  const [active] = await changeDeviceRows(call, { state: 'active', bound_at: call.now }, (devices) =>
    devices
      .where('org_id', '=', device.org_id)
      .where('id', '=', device.id)
      .where('state', '=', 'pending')
      .where('proof', '=', 'otp'),
  )
  if (!active) throw new Error(`device ${device.id} cannot be confirmed`)
  await settlePending(call, device)
  await call.audit(device.org_id, `device:${device.id}`, ['state', 'proof'], actor)
  await notifyMember(call, device, {
    subject: 'A device was registered',
    text: 'Your first device is active: it was confirmed with the code that was sent to your mobile. If this was not you, tell your administrator.',
  })
  return undefined
}
