import type { device } from '../../contract/device.ts'
import { alreadyEnded } from '../approvals/ending.ts'
import { contextsOf, reachOf } from '../approvals/record.ts'
import { requiresLocation } from '../approvals/rules-of.ts'
import { keepSite, readSite } from '../approvals/site.ts'
import { findDecider } from '../approvals/decider.ts'
import { readSettled } from '../approvals/waiter.ts'
import { startSession } from '../approver/session.ts'
import type { Call, Handlers } from '../call.ts'
import {
  challengeOfToken,
  enrollmentOver,
  findEnrollment,
  insertEnrollment,
  spendEnrollment,
} from '../enrollment.ts'
import { conflict, notFound, Refusal } from '../refusal.ts'
import { findUser } from './member.ts'
import { reachOrganization } from './tenant.ts'

const columns = [
  'id',
  'org_id',
  'user_id',
  'name',
  'kind',
  'registered_at',
  'last_used_at',
  'revoked_at',
] as const

const softwareNotAllowed = (): Refusal =>
  new Refusal(403, 'software_not_allowed', 'A software key counts only where the service runs with --dev', {
    hint: 'Register a phone, or start a service for development: svc serve --dev',
  })

const revokeDevice = async (call: Call, org_id: number, device_id: number) => {
  await reachOrganization(call, org_id)
  const revoked = await call.db
    .updateTable('devices')
    .set({ revoked_at: call.now })
    .where('org_id', '=', org_id)
    .where('id', '=', device_id)
    .where('revoked_at', 'is', null)
    .returning(columns)
    .executeTakeFirst()
  if (revoked) {
    await call.audit(org_id, `device:${device_id}`, ['revoked_at'])
    call.wake(revoked)
    return revoked
  }
  const known = await call.db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('id', '=', device_id)
    .select('id')
    .executeTakeFirst()
  throw known ? conflict('device_revoked', 'The device is revoked already') : notFound('Device')
}

export const deviceHandlers: Handlers<typeof device> = {
  createEnrollment: async ({ org_id, user_id }, call) => {
    await reachOrganization(call, org_id)
    const user = await findUser(call, org_id, user_id)
    if (user.state !== 'active')
      throw conflict(
        `user_${user.state}`,
        `The user is ${user.state}; only an active user can register a device`,
      )
    const site = await keepSite(call.db, call.publicUrl)
    const enrollment = await insertEnrollment(call, org_id, user_id)
    await call.audit(org_id, `user:${user_id}`, ['enrollment'])
    return { ...enrollment, ...site, challenge: challengeOfToken(enrollment.token) }
  },

  registerDevice: {
    before: async ({ token, name, software = false, response }, { service }) => {
      const { storage, publicUrl, dev } = service
      if (!(await storage.read((db) => findEnrollment(db, token, storage.now())))) throw enrollmentOver()
      const site = await storage.read((db) => readSite(db, publicUrl))
      // The verifier takes long to load, and not every service sees a device.
      const { verifyRegistration } = await import('../approvals/registration.ts')
      const { software: isSoftware, ...key } = await verifyRegistration(
        response,
        site,
        challengeOfToken(token),
      )
      const kind = software || isSoftware ? 'software' : 'phone'
      if (kind === 'software' && !dev) throw softwareNotAllowed()
      return async (call) => {
        const member = await spendEnrollment(call, token)
        const row = await call.db
          .insertInto('devices')
          .values({ ...key, ...member, name, kind, registered_at: call.now })
          .onConflict((of) => of.column('credential_id').doNothing())
          .returning(columns)
          .executeTakeFirstOrThrow(() =>
            conflict('device_known', 'This key is registered already', 'Register another'),
          )
        const { org_id, user_id } = member
        await call.audit(org_id, `device:${row.id}`, ['name', 'kind'], `user:${user_id}`)
        // Who has just proved it goes straight to the inbox.
        if (kind === 'phone') await startSession(call, row.id)
        return row
      }
    },
  },

  listDevices: async ({ org_id, user_id }, call) => {
    await reachOrganization(call, org_id)
    await findUser(call, org_id, user_id)
    return call.db
      .selectFrom('devices')
      .where('org_id', '=', org_id)
      .where('user_id', '=', user_id)
      .select(columns)
      .orderBy('id')
      .execute()
  },

  revokeDevice: ({ org_id, device_id }, call) => revokeDevice(call, org_id, device_id),

  getCeremony: {
    before: async ({ request_id }, { service, caller }) => {
      const row = await readSettled(service, request_id, reachOf(caller))
      if (row.status !== 'pending') throw alreadyEnded(row)
      return async (call) => {
        const devices = await call.db
          .selectFrom('devices')
          .where('org_id', '=', row.org_id)
          .where('user_id', '=', row.user_id)
          .where('revoked_at', 'is', null)
          .$if(!call.dev, (query) => query.where('kind', '=', 'phone'))
          .select('credential_id')
          .orderBy('id')
          .execute()
        return {
          request_id,
          ...(await readSite(call.db, call.publicUrl)),
          contexts: contextsOf(row),
          credentials: devices.map((one) => one.credential_id),
          number_required: row.number !== null,
          verified_as: row.verified_as,
          location_required: await requiresLocation(call.db, row),
        }
      }
    },
  },

  decideApproval: {
    before: async (input, outside) => {
      const posted = await findDecider(outside.service, input)
      // The verifier takes long to load. Nobody else's device can make the service load it.
      const { prepareDecision } = await import('../approvals/decision.ts')
      return prepareDecision(input, outside, posted)
    },
  },
}
