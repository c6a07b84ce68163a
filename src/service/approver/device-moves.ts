import type { approverDevices } from '../../contract/approver-devices.ts'
import { conflict, notFound, Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { actorAt, type Caller, requirePerson } from '../call/caller.ts'
import { devicesOf } from '../devices/active.ts'
import { administrators, waitsUntil } from '../devices/administrators.ts'
import { sendCode } from '../devices/code.ts'
import { answeredDevice, deviceColumns, findDevice, inactiveDevice } from '../devices/record.ts'
import { approveOwnDevice, approveRecovery, refuseDevice } from '../devices/transitions.ts'
import { selectUsers } from '../members/member.ts'
import { makeChallenge, type Question } from './challenge.ts'
import { maskedMember, requireAdmin } from './members.ts'
import { proveDevice } from './proof.ts'

type Move = 'approve' | 'refuse'

const questionOf = (caller: Caller, { device_id, move }: { device_id: number; move: Move }): Question => {
  const { org_id, device_id: own } = requirePerson(caller)
  return { type: 'device-move', org_id, subject: device_id, move, device_id: own }
}

/** Recoveries that administrators decide about: pending devices of members without an active one. */
const recoveriesOf = async (call: Call, org_id: number, except: number) => {
  const devices = await call.db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('user_id', '<>', except)
    .where('state', '=', 'pending')
    .where('proof', '=', 'admin')
    .select(deviceColumns)
    .orderBy('id')
    .execute()
  if (devices.length === 0) return []
  const users = await selectUsers(call)
    .where('m.org_id', '=', org_id)
    .where(
      'm.user_id',
      'in',
      devices.map(({ user_id }) => user_id),
    )
    .execute()
  const members = new Map(users.map((user) => [user.id, maskedMember(user)]))
  return devices.flatMap((device) => {
    const member = members.get(device.user_id)
    return member ? [{ ...answeredDevice(device), member }] : []
  })
}

const isAdmin = async (call: Call, org_id: number, user_id: number): Promise<boolean> =>
  (await administrators(call.db, org_id)
    .where('m.user_id', '=', user_id)
    .select('m.id')
    .executeTakeFirst()) !== undefined

const tooNew = (from: string): Refusal =>
  new Refusal(
    403,
    'admin_too_new',
    `You became an administrator recently and can approve recoveries from ${from} on`,
    {
      hint: 'Ask another admin',
    },
  )

/** Approves the person's own further device or, for an administrator, the recovery of another member. */
const approve = async (call: Call, device_id: number) => {
  const { org_id, user_id } = requirePerson(call.caller)
  const device = await findDevice(call, org_id, device_id)
  const target = { org_id, device_id }
  if (device.user_id === user_id) return approveOwnDevice(call, target, { org_id, user_id })
  await requireAdmin(call)
  const from = await waitsUntil(call, { org_id, user_id })
  // Returned and not thrown: a period that began again is kept.
  return from === undefined ? approveRecovery(call, target) : tooNew(from)
}

const refuse = async (call: Call, device_id: number) => {
  const { org_id, user_id } = requirePerson(call.caller)
  const device = await findDevice(call, org_id, device_id)
  if (device.user_id !== user_id) await requireAdmin(call)
  return refuseDevice(call, { org_id, device_id })
}

export const listOwnDevices: HandlerOf<typeof approverDevices.listOwnDevices> = async (_, call) => {
  const { org_id, user_id, device_id } = requirePerson(call.caller)
  const own = await devicesOf(call.db, { org_id, user_id }).select(deviceColumns).execute()
  const recoveries = (await isAdmin(call, org_id, user_id)) ? await recoveriesOf(call, org_id, user_id) : []
  return { device_id, devices: own.map(answeredDevice), recoveries }
}

export const beginDeviceMove: HandlerOf<typeof approverDevices.beginDeviceMove> = async (input, call) => {
  const { org_id, user_id, device_id } = requirePerson(call.caller)
  if (input.device_id === device_id)
    throw conflict('own_device', 'A device cannot approve or refuse itself', 'Use another device')
  const device = await findDevice(call, org_id, input.device_id)
  if (device.user_id !== user_id) await requireAdmin(call)
  return { challenge: makeChallenge(call.keyring, questionOf(call.caller, input), call.now) }
}

export const moveDevice: HandlerOf<typeof approverDevices.moveDevice> = {
  before: async (input, { service, caller }) => {
    const { device_id } = requirePerson(caller)
    const question = questionOf(caller, input)
    const { settle } = await proveDevice(service, input, question, { deviceId: device_id })
    return async (call) => {
      await settle(call)
      return input.move === 'approve' ? approve(call, input.device_id) : refuse(call, input.device_id)
    }
  },
}

export const sendDeviceCode: HandlerOf<typeof approverDevices.sendDeviceCode> = {
  before: async (answer, { service }) => {
    const { device, settle } = await proveDevice(service, answer, { type: 'session' }, { inAnyState: true })
    return async (call) => {
      await settle(call)
      const { state, proof } = await findDevice(call, device.org_id, device.id)
      if (state === 'active') throw conflict('device_active', 'The device is active already')
      if (state !== 'pending' || proof !== 'otp') throw inactiveDevice(device)
      const { message_id: _, ...sent } = await sendCode(call, device)
      return sent
    }
  },
}

export const beginDeviceRefusal: HandlerOf<typeof approverDevices.beginDeviceRefusal> = async (
  { device_id },
  call,
) => ({
  challenge: makeChallenge(call.keyring, { type: 'device-refusal', subject: device_id }, call.now),
})

export const refuseNewDevice: HandlerOf<typeof approverDevices.refuseNewDevice> = {
  before: async ({ device_id, ...answer }, { service }) => {
    const question: Question = { type: 'device-refusal', subject: device_id }
    const { device, settle } = await proveDevice(service, answer, question, { inAnyState: true })
    // A device that was never active does not identify its holder.
    if (device.bound_at === null || device.id === device_id) throw notFound('Device')
    const { org_id, user_id } = device
    return async (call) => {
      await settle(call)
      const subject = await findDevice(call, org_id, device_id)
      if (subject.user_id !== user_id) throw notFound('Device')
      const actor = actorAt({ user_id, device_id: device.id })
      return refuseDevice(call, { org_id, device_id }, { user_id, actor })
    }
  },
}
