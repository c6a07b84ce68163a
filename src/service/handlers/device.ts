import type { device } from '../../contract/device.ts'
import { conflict } from '../../core/refusal.ts'
import { findDecider } from '../approvals/decider.ts'
import { readSettled } from '../approvals/decision-waiter.ts'
import { alreadyEnded } from '../approvals/finish.ts'
import { answeredSubject, contextsOf, approvalAccess } from '../approvals/record.ts'
import { registerDevice } from '../approver/registration.ts'
import type { Handlers } from '../call/call.ts'
import { reachOrganization } from '../call/tenant.ts'
import { ofActiveDevice } from '../devices/active.ts'
import { hasOtherAdministrator } from '../devices/administrators.ts'
import { requireCodes } from '../devices/code.ts'
import { challengeOfToken, insertEnrollment } from '../devices/enrollment.ts'
import { proofRequired } from '../devices/proof.ts'
import { answeredDevice, deviceColumns, findDevice } from '../devices/record.ts'
import { isAuthenticDevice } from '../devices/rows.ts'
import { keepSite, readSite } from '../devices/site.ts'
import { approveRecovery, refuseDevice, revokeDevice } from '../devices/transitions.ts'
import { findUser } from '../members/member.ts'
import { readDevicePolicy } from '../policy/device-policy.ts'
import { requiresLocation } from '../policy/rules.ts'

export const deviceHandlers: Handlers<typeof device> = {
  createEnrollment: async ({ org_id, user_id }, call) => {
    await reachOrganization(call, org_id)
    const user = await findUser(call, org_id, user_id)
    if (user.state !== 'active')
      throw conflict(
        `user_${user.state}`,
        `The user is ${user.state}; only an active user can register a device`,
      )
    const policy = await readDevicePolicy(call, org_id)
    const proof = await proofRequired(call, { org_id, user_id }, policy)
    if (proof === 'otp') requireCodes(call)
    const site = await keepSite(call.db, call.publicUrl)
    const enrollment = await insertEnrollment(call, org_id, user_id)
    await call.audit(org_id, `user:${user_id}`, ['enrollment'])
    return { ...enrollment, ...site, challenge: challengeOfToken(enrollment.token), proof }
  },

  registerDevice,

  listDevices: async ({ org_id, user_id }, call) => {
    await reachOrganization(call, org_id)
    await findUser(call, org_id, user_id)
    const rows = await call.db
      .selectFrom('devices')
      .where('org_id', '=', org_id)
      .where('user_id', '=', user_id)
      .select(deviceColumns)
      .orderBy('id')
      .execute()
    return rows.map(answeredDevice)
  },

  revokeDevice: async (input, call) => {
    await reachOrganization(call, input.org_id)
    return revokeDevice(call, input)
  },

  approveDevice: async ({ org_id, device_id }, call) => {
    await reachOrganization(call, org_id)
    const { user_id } = await findDevice(call, org_id, device_id)
    if (await hasOtherAdministrator(call, { org_id, user_id }))
      throw conflict(
        'administrator_approves',
        'Another administrator of the organization has an active device and must approve this recovery with it',
        'The administrator approves it on the approver page, under Devices',
      )
    return approveRecovery(call, { org_id, device_id })
  },

  refuseDevice: async (input, call) => {
    await reachOrganization(call, input.org_id)
    return refuseDevice(call, input)
  },

  getCeremony: {
    before: async ({ request_id }, { service, caller }) => {
      const row = await readSettled(service, request_id, approvalAccess(caller))
      if (row.status !== 'pending') throw alreadyEnded(row)
      return async (call) => {
        const devices = await call.db
          .selectFrom('devices')
          .where('org_id', '=', row.org_id)
          .where('user_id', '=', row.user_id)
          .where(ofActiveDevice('devices'))
          .$if(!call.dev, (query) => query.where('kind', '=', 'phone'))
          .selectAll()
          .orderBy('id')
          .execute()
        return {
          request_id,
          ...(await readSite(call.db, call.publicUrl)),
          contexts: contextsOf(row),
          credentials: devices.filter((one) => isAuthenticDevice(call, one)).map((one) => one.credential_id),
          number_required: row.number !== null,
          verified_as: row.verified_as,
          subject: answeredSubject(row),
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
