import { addMs } from '../../core/iso-time.ts'
import { conflict, type Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { namedKeyOf, requirePerson } from '../call/caller.ts'
import { type Member, ofMember, organizationRow } from '../call/tenant.ts'
import { readDevicePolicy } from '../policy/device-policy.ts'
import { devicesOf, ofKeptDevice } from './active.ts'
import { wakeAdministrators } from './administrators.ts'
import { activateDue } from './cooling.ts'
import { endEnrollments, endPageEnrollments } from './enrollment.ts'
import { nameOf, noticeTime, notifyAdministrators, notifyMember } from './notices.ts'
import { checkActor } from './actors.ts'
import { settlePending } from './proof.ts'
import { findDevice, findOwnDevice, inactiveDevice, toDeviceRecord } from './record.ts'
import { changeDeviceRows, type DeviceQuery, type DeviceRow, noteOnDevices } from './rows.ts'

// Each change of a device's state is conditional and in a transaction, so of two concurrent changes one succeeds.

type Target = { org_id: number; device_id: number }

const pendingDevice =
  ({ org_id, device_id }: Target) =>
  (devices: DeviceQuery): DeviceQuery =>
    devices.where('org_id', '=', org_id).where('id', '=', device_id).where('state', '=', 'pending')

/** Why the device is not pending any more. */
const notPending = async (call: Call, { org_id, device_id }: Target): Promise<Refusal> => {
  const device = await findDevice(call, org_id, device_id)
  if (device.state !== 'pending')
    return conflict(`device_${device.state}`, `The device is already ${device.state}`)
  if (device.active_from !== null)
    return conflict(
      'device_approved',
      `The device is already approved and becomes active at ${device.active_from}`,
      `Refuse it until then: svc user devices refuse ${device_id}`,
    )
  return inactiveDevice(device)
}

/** What approves a device of a member: another device at the approver page, or a key. */
const approverOf = async (call: Call, { user_id }: Pick<Member, 'user_id'>) => {
  const { caller } = call
  if (!caller.person) return { approved_by: null, approved_by_key: namedKeyOf(caller) }
  await checkActor(call, requirePerson(caller), user_id)
  return { approved_by: caller.person.device_id, approved_by_key: null }
}

/** Activates a further device of a member with an active one. */
export const approveOwnDevice = async (call: Call, target: Target, member: Member) => {
  const approver = await approverOf(call, member)
  const values = { state: 'active', bound_at: call.now, ...approver } as const
  const [active] = await changeDeviceRows(call, values, (devices) =>
    pendingDevice(target)(devices).where('user_id', '=', member.user_id).where('proof', '=', 'device'),
  )
  if (!active) throw await notPending(call, target)
  await settlePending(call, member)
  await call.audit(target.org_id, `device:${target.device_id}`, ['state', 'proof'])
  await notifyMember(call, member, {
    subject: 'A device was added',
    text: 'Another of your devices approved a new one. It can now approve requests for you. If this was not you, remove it under Devices, and tell your administrator.',
  })
  call.wake({ org_id: member.org_id, users: [member.user_id] })
  return toDeviceRecord(active)
}

/** Approves the replacement of a lost last device. It becomes active after the cooling period, if there is one. */
export const approveRecovery = async (call: Call, target: Target) => {
  const { org_id, device_id } = target
  const member = await findOwnDevice(call, org_id, device_id)
  const { recoveryDelayMs } = await readDevicePolicy(call, org_id)
  const active_from = recoveryDelayMs === 0 ? null : addMs(call.now, recoveryDelayMs)
  const values =
    active_from === null
      ? ({ state: 'active', bound_at: call.now } as const)
      : { approved_at: call.now, active_from }
  const [approved] = await changeDeviceRows(
    call,
    { ...values, ...(await approverOf(call, member)) },
    (devices) => pendingDevice(target)(devices).where('proof', '=', 'admin').where('approved_at', 'is', null),
  )
  if (!approved) throw await notPending(call, target)
  if (active_from === null) await settlePending(call, member)
  await call.audit(
    org_id,
    `device:${device_id}`,
    active_from === null ? ['state', 'bound_at'] : ['active_from'],
  )
  const { slug } = await organizationRow(call.db, org_id)
  const when = active_from === null ? 'It is active now.' : `It becomes active on ${noticeTime(active_from)}.`
  const [ownWay, adminWay] =
    active_from === null
      ? ['tell your administrator, who can remove it.', `remove it: svc user devices revoke ${device_id}`]
      : [
          'refuse it until then on any device that you registered earlier, even one that was removed, and tell your administrator.',
          `refuse it until then: svc user devices refuse ${device_id}`,
        ]
  await notifyMember(call, member, {
    subject: 'A recovery was approved',
    text: `An administrator approved a new device to replace your lost one. ${when} If this was not you, ${ownWay}`,
  })
  await notifyAdministrators(call, member, {
    subject: 'A recovery was approved',
    text: `An administrator approved a new device of ${await nameOf(call.db, member)}, who had no active one. ${when} If no device was lost, ${adminWay} --org ${slug}`,
  })
  call.wake({ org_id: member.org_id, users: [member.user_id] })
  await wakeAdministrators(call, org_id)
  return toDeviceRecord(approved)
}

/** Refuses a pending device. With `user_id`, only a device of this member. */
export const refuseDevice = async (
  call: Call,
  target: Target,
  { user_id, actor }: { user_id?: number; actor?: string } = {},
) => {
  // A device whose cooling period is over can no longer be refused, even if no sweep has activated it yet.
  await activateDue(call, target.org_id)
  const [refused] = await changeDeviceRows(call, { state: 'refused' }, (devices) =>
    pendingDevice(target)(devices).$if(user_id !== undefined, (own) => own.where('user_id', '=', user_id!)),
  )
  if (!refused) throw await notPending(call, target)
  const { org_id } = refused
  await call.audit(org_id, `device:${target.device_id}`, ['state', 'refused'], actor)
  await notifyMember(call, refused, {
    subject: 'A device was refused',
    text: 'A new device was refused and cannot approve anything.',
  })
  if (refused.proof === 'admin') {
    await notifyAdministrators(call, refused, {
      subject: 'A recovery was refused',
      text: `The new device of ${await nameOf(call.db, refused)} was refused. Ask that person whether someone tried to take over their account.`,
    })
    await wakeAdministrators(call, org_id)
  }
  call.wake({ org_id: refused.org_id, users: [refused.user_id] })
  return toDeviceRecord(refused)
}

/**
 * Refuses the pending devices that a revoked device added for its person, as its links end. Otherwise one that a stolen
 * phone added would become a recovery, of which nobody knows who asks for it.
 */
const refuseAddedBy = async (call: Call, revoked: DeviceRow): Promise<void> => {
  const refused = await changeDeviceRows(call, { state: 'refused' }, (devices) =>
    devices.where(ofMember(revoked)).where('added_by', '=', revoked.id).where('state', '=', 'pending'),
  )
  for (const { id, org_id } of refused) await call.audit(org_id, `device:${id}`, ['state', 'refused'])
}

/** Revokes a device. The devices that were ever active are still told what happens to the person's devices. */
export const revoke = async (call: Call, { org_id, device_id }: Target): Promise<DeviceRow> => {
  const [revoked] = await changeDeviceRows(call, { state: 'revoked', revoked_at: call.now }, (devices) =>
    devices.where('org_id', '=', org_id).where('id', '=', device_id).where(ofKeptDevice('devices')),
  )
  if (!revoked) {
    const { state } = await findDevice(call, org_id, device_id)
    throw conflict(`device_${state}`, `The device is already ${state}`)
  }
  await refuseAddedBy(call, revoked)
  await settlePending(call, revoked)
  if (revoked.bound_at !== null) await endPageEnrollments(call, revoked)
  await call.audit(org_id, `device:${device_id}`, ['state', 'revoked_at'])
  await notifyMember(call, revoked, {
    subject: 'A device was removed',
    text: 'One of your devices was removed and can no longer approve anything. If this was not you, tell your administrator.',
  })
  call.wake({ org_id: revoked.org_id, users: [revoked.user_id] })
  return revoked
}

/** Revokes all devices and ends all links of a member who leaves. */
export const endDevices = async (call: Call, member: Member): Promise<void> => {
  const ended = await changeDeviceRows(call, { state: 'revoked', revoked_at: call.now }, (devices) =>
    devices.where(ofMember(member)).where(ofKeptDevice('devices')),
  )
  await endEnrollments(call, member)
  if (ended.some(({ bound_at }) => bound_at !== null))
    await notifyMember(call, member, {
      subject: 'Your devices were removed',
      text: 'You are no longer a member of this organization, so your devices can no longer approve anything for it. If you do not expect this, tell your administrator.',
    })
}

/** Ends the devices of a deleted member and erases what a person typed. Their keys and their history stay. */
export const eraseDevices = async (call: Call, member: Member): Promise<void> => {
  await endDevices(call, member)
  const own = devicesOf(call.db, member).select('id')
  await call.db.deleteFrom('device_push').where('device_id', 'in', own).execute()
  await call.db.deleteFrom('approver_sessions').where('device_id', 'in', own).execute()
  await noteOnDevices(call.db, { name: 'deleted' }).where('id', 'in', own).execute()
}
