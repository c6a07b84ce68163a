import { conflict, forbidden, notFound } from '../../core/refusal.ts'
import { readAddedByDevice } from '../approvals/added.ts'
import { endAdded } from '../approvals/added-ending.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { actorAt, requirePerson } from '../call/caller.ts'
import type { RowInput } from '../call/row-ids.ts'
import { devicesOf } from '../devices/active.ts'
import { isAdministrator, recoveriesFrom } from '../devices/administrators.ts'
import { sendCode } from '../devices/code.ts'
import { hasActiveDevice } from '../devices/proof.ts'
import { recoveryProblem } from '../devices/recovery.ts'
import { findDevice, inactiveDevice, toDeviceRecord, toDeviceRecords } from '../devices/record.ts'
import { approveOwnDevice, approveRecovery, refuseDevice, revoke } from '../devices/transitions.ts'
import { readAdded } from './own-devices.ts'
import { createChallenge, type Signed } from './challenge.ts'
import { maskedMember, readMembers, requireAdmin } from './members.ts'
import { challengeFor, proveDevice, signs } from './proof.ts'

type Move = Pick<RowInput<'beginDeviceMove'>, 'device_id' | 'move' | 'with_added'>

const asks = ({ device_id: subject, move, with_added = false }: Move): Signed => ({
  type: 'device-move',
  subject,
  move,
  with_added,
})

/** Finds a device that the caller can move: an own one or, for an administrator, that of another member. */
const findMovable = async (call: Call, device_id: number) => {
  const { org_id, user_id } = requirePerson(call.caller)
  const device = await findDevice(call, org_id, device_id)
  if (device.user_id !== user_id) await requireAdmin(call)
  return device
}

/** Recoveries that administrators decide about: pending devices of members without an active one. */
const readRecoveries = async (call: Call, org_id: number, except: number) => {
  const devices = await call.db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('user_id', '<>', except)
    .where('state', '=', 'pending')
    .where('proof', '=', 'admin')
    .selectAll()
    .orderBy('id')
    .execute()
  const ids = devices.map(({ user_id }) => user_id)
  const members = await readMembers(call, org_id, ids, maskedMember)
  return toDeviceRecords(call, devices).flatMap((device) => {
    const member = members.get(device.user_id)
    return member ? [{ ...device, member }] : []
  })
}

/** Approves an own further device or, for an administrator, the recovery of another member. */
const approve = async (call: Call, device_id: number) => {
  const person = requirePerson(call.caller)
  const target = { org_id: person.org_id, device_id }
  const { user_id } = await findMovable(call, device_id)
  if (user_id === person.user_id) return approveOwnDevice(call, target, person)
  const from = await recoveriesFrom(call, person)
  if (from === undefined) {
    const problem = await recoveryProblem(call, device_id, person)
    if (problem) throw problem
    return approveRecovery(call, target)
  }
  // Returned and not thrown, so that a period that started again is committed.
  return forbidden(
    'admin_too_new',
    `You became an administrator recently and can approve recoveries from ${from} on`,
    'Ask another administrator, or the operator: svc user devices approve',
    { from },
  )
}

/** Removes a device of the caller or, for an administrator, of another member, such as a lost one. */
const remove = async (call: Call, { device_id, move, with_added = false }: Move) => {
  const { org_id, device_id: own } = requirePerson(call.caller)
  await findMovable(call, device_id)
  const removed = await revoke(call, { org_id, device_id })
  // The device that signs stays, with what it added.
  await endAdded(call, () => readAddedByDevice(call, removed, own), with_added)
  // Thrown, so that the device stays: who removes the last one must know what follows.
  if (move === 'remove' && removed.bound_at !== null && !(await hasActiveDevice(call, removed)))
    throw conflict(
      'last_device',
      'This is the last active device of its user; the next one needs the approval of an administrator',
      'Add another device first, or confirm that no device remains',
    )
  return toDeviceRecord(removed)
}

export const listOwnDevices: HandlerOf<'listOwnDevices'> = async (_, call) => {
  const person = requirePerson(call.caller)
  const { org_id, user_id, device_id } = person
  const own = await devicesOf(call.db, person).selectAll().execute()
  const recoveries = (await isAdministrator(call.db, person))
    ? await readRecoveries(call, org_id, user_id)
    : []
  return {
    device_id,
    devices: toDeviceRecords(call, own),
    added: await readAdded(call, own, device_id),
    recoveries,
  }
}

export const beginDeviceMove: HandlerOf<'beginDeviceMove'> = async (input, call) => {
  const isRemoval = input.move === 'remove' || input.move === 'remove_last'
  if (!isRemoval && input.device_id === requirePerson(call.caller).device_id)
    throw conflict('own_device', 'A device cannot approve or refuse itself', 'Use another device')
  // Whether there is such a device is said only to whoever signs.
  return challengeFor(asks)(input, call)
}

export const moveDevice: HandlerOf<'moveDevice'> = signs(asks, async (call, input, { person, settle }) => {
  const { device_id, move } = input
  await settle(call)
  if (move === 'approve') return approve(call, device_id)
  if (move !== 'refuse') return remove(call, input)
  await findMovable(call, device_id)
  return refuseDevice(call, { org_id: person.org_id, device_id })
})

export const sendDeviceCode: HandlerOf<'sendDeviceCode'> = {
  before: async (answer, { service }) => {
    const { device, settle } = await proveDevice(service, answer, { type: 'session' })
    return async (call) => {
      await settle(call)
      const { state, proof } = await findDevice(call, device.org_id, device.id)
      if (state === 'active') throw conflict('device_active', 'The device is already active')
      if (state !== 'pending' || proof !== 'otp') throw inactiveDevice(device)
      const { message_id: _, ...sent } = await sendCode(call, device)
      return sent
    }
  },
}

export const beginDeviceRefusal: HandlerOf<'beginDeviceRefusal'> = async ({ device_id: subject }, call) =>
  createChallenge(call, { type: 'device-refusal', subject })

export const refuseNewDevice: HandlerOf<'refuseNewDevice'> = {
  before: async ({ device_id, ...answer }, { service }) => {
    const question = { type: 'device-refusal', subject: device_id } as const
    const { device, settle } = await proveDevice(service, answer, question)
    // A device that was never active does not identify its owner.
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
