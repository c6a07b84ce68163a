import type { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { notConfigured } from '../call/message.ts'
import { mobileOf, organizationRow } from '../call/tenant.ts'
import { tellMember } from './notices.ts'
import { checkOtp, sendOneTimeCode, type SentOtp } from './otp.ts'
import { type Member, settlePending } from './proof.ts'
import { changeDeviceRows } from './rows.ts'

type Pending = Member & { id: number }

/** A code of its own for each device: one for something else never activates a device, nor the other way round. */
const whose = async ({ db }: Call, { org_id, user_id, id }: Pending) => ({
  org_id,
  mobile: await mobileOf(db, user_id),
  purpose: `device:${id}`,
})

/** Refuses with 409 where no code can be sent: a first device would stay pending for ever. */
export const requireCodes = (call: Call): void => {
  if (!call.canSend('sms')) throw notConfigured('sms')
}

/** Sends the code that proves a device to the mobile of its member. */
export const sendCode = async (call: Call, device: Pending): Promise<SentOtp> => {
  const { name } = await organizationRow(call.db, device.org_id)
  return sendOneTimeCode(
    call,
    await whose(call, device),
    (otp, minutes) =>
      `${otp} registers a phone that approves requests of ${name}. Type it only on that phone, within ${minutes} minutes. If it is not yours, tell your administrator.`,
  )
}

/** Spends the code and makes the device active. A Refusal is returned, not thrown: the try counts. */
export const confirmDevice = async (
  call: Call,
  device: Pending,
  otp: string,
  actor: string,
): Promise<Refusal | undefined> => {
  const wrong = await checkOtp(call, { ...(await whose(call, device)), otp })
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
  await tellMember(call, device, {
    subject: 'A device was registered',
    text: 'Your first device is active: it was confirmed with the code that was sent to your mobile. If this was not you, tell your administrator.',
  })
  return undefined
}
