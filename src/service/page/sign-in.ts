import { sql } from 'kysely'
import type { Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { actorAt, requirePerson, sessionOver, type SignedIn } from '../call/caller.ts'
import type { RowData } from '../call/row-ids.ts'
import { ofMember } from '../call/tenant.ts'
import { activeDevices, devicesOf } from '../devices/active.ts'
import { confirmDevice } from '../devices/code.ts'
import { activateDue } from '../devices/cooling.ts'
import { findOwnDevice, inactiveDevice } from '../devices/record.ts'
import { readPushTargets } from '../devices/push-targets.ts'
import type { DeviceRow } from '../devices/rows.ts'
import { readSite } from '../devices/site.ts'
import { consumeOrRefuse } from '../limits/rate-limit.ts'
import { usesLocation } from '../policy/factor-settings.ts'
import { createChallenge, type Signed } from './challenge.ts'
import { challengeFor, proveDevice, signs } from './proof.ts'
import { endSession, startSession } from './session.ts'
import { type Named, organizationNamed } from './standing.ts'

export const readSession = async (
  { db, service }: Call,
  device_id: number,
  organizations?: number[],
): Promise<RowData<'getSession'>> => {
  const { org_id, user_id, ...row } = await activeDevices(db, service.dev)
    .innerJoin('organizations as o', 'o.id', 'd.org_id')
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
    ])
    .executeTakeFirstOrThrow(sessionOver)
  const other = await activeDevices(db, service.dev)
    .where(ofMember({ org_id, user_id }, 'd'))
    .where('d.id', '<>', device_id)
    .select('d.id')
    .limit(1)
    .executeTakeFirst()
  const targets = await readPushTargets(db, device_id)
  return {
    ...row,
    org_id,
    organizations: organizations ?? [org_id],
    only_device: !other,
    subscribed: targets.length > 0,
    push_hashes: targets.map(({ endpoint_hash }) => endpoint_hash),
    rp_id: (await readSite(db, service.publicUrl)).rp_id,
    wants_location: await usesLocation(db, { org_id, user_id }),
    push_key: service.pushKey,
  }
}

export const getSession: HandlerOf<'getSession'> = (_, call) => {
  const { device_id } = requirePerson(call.caller)
  // None if the call named one.
  const organizations = call.caller.sessions?.map(({ org_id }) => org_id)
  return readSession(call, device_id, organizations)
}

export const closeSession: HandlerOf<'closeSession'> = async (_, call) => {
  const person = requirePerson(call.caller)
  await endSession(call, person)
  call.wake({ org_id: person.org_id, users: [person.user_id] })
  await call.audit(person.org_id, `device:${person.device_id}`, ['session'])
}

/** Refuses a revoked device. If it was active before, it learns which pending devices of its member it can refuse. */
const revokedDevice = async (call: Call, device: DeviceRow, named: Named | undefined): Promise<Refusal> => {
  if (device.bound_at === null) return inactiveDevice(device, { ...named, pending: [] })
  const pending = await devicesOf(call.db, device)
    .where('state', '=', 'pending')
    .select([sql<string>`cast(id as text)`.as('id'), 'registered_at', 'active_from'])
    .execute()
  return inactiveDevice(device, { ...named, pending })
}

export const beginSession: HandlerOf<'beginSession'> = async (_, call) => ({
  rp_id: (await readSite(call.db, call.service.publicUrl)).rp_id,
  ...createChallenge(call, { type: 'session' }),
})

/** Each adds to the store, and the call needs no session that could be counted. */
const signIns = { kind: 'sign-in', atMost: 30, windowMs: 10 * 60_000 }

const limitSignIns = (call: Call, { org_id, id }: Pick<DeviceRow, 'org_id' | 'id'>) =>
  consumeOrRefuse(
    call,
    signIns,
    { org_id, subject: `device:${id}` },
    { code: 'rate_limited', what: `This device signed in ${signIns.atMost} times in ten minutes` },
  )

const asks = (_: unknown, { session_id }: SignedIn): Signed => ({ type: 'confirmation', session_id })

export const beginConfirmation: HandlerOf<'beginConfirmation'> = async (input, call) => {
  const { rp_id, credential_id } = await readSession(call, requirePerson(call.caller).device_id)
  return { ...(await challengeFor(asks)(input, call)), rp_id, credential_id }
}

export const confirmSession: HandlerOf<'confirmSession'> = signs(
  asks,
  async (call, _, { device, settle }) => {
    await settle(call)
    await limitSignIns(call, device)
    await call.audit(device.org_id, `device:${device.id}`, ['session'])
    return undefined
  },
)

/** Opens the session of a device. A pending device becomes active with its code. */
export const openSession: HandlerOf<'openSession'> = {
  before: async ({ code, ...answer }, { service }) => {
    const { device, settle } = await proveDevice(service, answer, { type: 'session' })
    return async (call) => {
      await settle(call)
      const { org_id, user_id, id } = device
      await limitSignIns(call, device)
      await activateDue(call, org_id)
      const actor = actorAt({ user_id, device_id: id })
      const present = await findOwnDevice(call, org_id, id)
      if (present.state === 'pending' && present.proof === 'otp' && code !== undefined) {
        const wrong = await confirmDevice(call, device, code, actor)
        if (wrong) return wrong
      } else if (present.state === 'revoked')
        return revokedDevice(call, { ...device, state: 'revoked' }, await organizationNamed(call.db, org_id))
      else if (present.state !== 'active')
        return inactiveDevice(present, await organizationNamed(call.db, org_id))
      await startSession(call, device)
      await call.audit(org_id, `device:${id}`, ['session'], actor)
      return readSession(call, id)
    }
  },
}
