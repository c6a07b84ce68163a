import type { approver } from '../../contract/approver.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call, Outside } from '../call/call.ts'
import { actorAt, sessionOver } from '../call/caller.ts'
import type { RowData, RowInput } from '../call/row-ids.ts'
import { activeDevices, devicesOf } from '../devices/active.ts'
import { confirmDevice } from '../devices/code.ts'
import { activateDue } from '../devices/cooling.ts'
import { findDevice, inactiveDevice } from '../devices/record.ts'
import { readSite } from '../devices/site.ts'
import { usesLocation } from '../policy/rules.ts'
import { proveDevice } from './proof.ts'
import { startSession } from './session.ts'

/** Who stands at the page with a device. */
export const readSession = async (
  call: Call,
  device_id: number,
): Promise<RowData<typeof approver.getSession>> => {
  const { db, publicUrl, dev, pushKey } = call
  const { org_id, user_id, ...row } = await activeDevices(db, dev)
    .innerJoin('organizations as o', 'o.id', 'd.org_id')
    .leftJoin('push_subscriptions as p', 'p.device_id', 'd.id')
    .where('d.id', '=', device_id)
    .select([
      'd.org_id',
      'd.user_id',
      'm.first_name',
      'o.name as organization',
      'm.role',
      'd.id as device_id',
      'd.name as device_name',
      'd.credential_id',
      'p.device_id as subscribed',
    ])
    .executeTakeFirstOrThrow(sessionOver)
  return {
    ...row,
    subscribed: row.subscribed !== null,
    rp_id: (await readSite(db, publicUrl)).rp_id,
    wants_location: await usesLocation(db, org_id, user_id),
    push_key: pushKey,
  }
}

type Proved = Awaited<ReturnType<typeof proveDevice>>['device']

/** A new device of the same member that is not active yet: who holds an older one can refuse it. */
const pendingOf = async ({ db }: Call, { org_id, user_id, id }: Proved) => {
  const pending = await devicesOf(db, { org_id, user_id })
    .where('id', '<>', id)
    .where('state', '=', 'pending')
    .select(['id', 'registered_at', 'active_from'])
    .execute()
  return pending.map(({ id, registered_at, active_from }) => ({ id: String(id), registered_at, active_from }))
}

/** Why the device cannot sign in. One that was active before learns which new ones it can refuse. */
const refusalOf = async (call: Call, device: Proved, state: Parameters<typeof inactiveDevice>[0]) => {
  if (state.state !== 'revoked') return inactiveDevice(state)
  return new Refusal(403, 'device_not_registered', 'This device is not registered here, or not any more', {
    hint: 'Ask for a new link: svc user enroll <user-id>',
    data: { pending: device.bound_at === null ? [] : await pendingOf(call, device) },
  })
}

/** Opens the session of a device; a pending one that waits for a code becomes active with it. */
export const openSession = {
  before: async ({ code, ...answer }: RowInput<typeof approver.openSession>, { service }: Outside) => {
    const { device, settle } = await proveDevice(service, answer, { type: 'session' }, { inAnyState: true })
    return async (call: Call) => {
      await settle(call)
      const { org_id, user_id, id } = device
      await activateDue(call, org_id)
      const actor = actorAt({ user_id, device_id: id })
      const present = await findDevice(call, org_id, id)
      if (present.state === 'pending' && present.proof === 'otp' && code !== undefined) {
        const wrong = await confirmDevice(call, device, code, actor)
        if (wrong) return wrong
      } else if (present.state !== 'active') return refusalOf(call, device, present)
      await startSession(call, id)
      await call.audit(org_id, `device:${id}`, ['session'], actor)
      return readSession(call, id)
    }
  },
}
