import { readAddedByDevice } from '../approvals/added.ts'
import { notFound } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { actorAt, requirePerson } from '../call/caller.ts'
import { ofMember } from '../call/tenant.ts'
import { devicesOf, ofKeptDevice } from '../devices/active.ts'
import { insertEnrollment } from '../devices/enrollment.ts'
import { deviceColumns, toDeviceRecord, toDeviceRecords } from '../devices/record.ts'
import { type DeviceRow, noteOnDevices } from '../devices/rows.ts'
import { bindSite } from '../devices/site.ts'
import { findUser } from '../members/member.ts'
import type { Signed } from './challenge.ts'
import { maskedMember, requireAdmin } from './members.ts'
import { challengeFor, signs } from './proof.ts'

/** What each active device added, for the question before it is removed. */
export const readAdded = async (
  call: Call,
  devices: readonly Pick<DeviceRow, 'id' | 'org_id' | 'user_id' | 'state'>[],
  except: number,
) => {
  const all = []
  for (const device of devices.filter(({ state }) => state === 'active')) {
    const added = await readAddedByDevice(call, device, except)
    if (added.devices.length + added.agents.length > 0) all.push({ ...added, by: device.id })
  }
  return all
}

export const renameOwnDevice: HandlerOf<'renameOwnDevice'> = async ({ device_id, name }, call) => {
  const person = requirePerson(call.caller)
  const renamed = await noteOnDevices(call.db, { name })
    .where('id', '=', device_id)
    .where(ofMember(person))
    .where(ofKeptDevice('devices'))
    .returning(deviceColumns)
    .executeTakeFirstOrThrow(() => notFound('Device'))
  await call.audit(person.org_id, `device:${device_id}`, ['name'])
  call.wake({ org_id: person.org_id, users: [person.user_id] })
  return toDeviceRecord(renamed)
}

const asksForLink = (): Signed => ({ type: 'device-link' })

export const beginDeviceLink: HandlerOf<'beginDeviceLink'> = challengeFor(asksForLink)

/** The new device is pending: whoever photographs the link can register it, and the person must see which one they approve. */
export const createDeviceLink: HandlerOf<'createDeviceLink'> = signs(
  asksForLink,
  async (call, _, { person, settle }) => {
    await settle(call)
    await bindSite(call.db, call.service.publicUrl)
    const { url, expires_at } = await insertEnrollment(call, person)
    await call.audit(person.org_id, `user:${person.user_id}`, ['enrollment'], actorAt(person))
    return { url, expires_at, expires_in_ms: Date.parse(expires_at) - Date.parse(call.now) }
  },
)

export const listMemberDevices: HandlerOf<'listMemberDevices'> = async ({ user_id }, call) => {
  const { org_id } = await requireAdmin(call)
  const member = await findUser(call, org_id, user_id)
  const devices = await devicesOf(call.db, { org_id, user_id }).selectAll().execute()
  return {
    member: maskedMember(member),
    devices: toDeviceRecords(call, devices),
    added: await readAdded(call, devices, requirePerson(call.caller).device_id),
  }
}
