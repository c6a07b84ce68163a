import type { device } from '../../contract/device.ts'
import { conflict } from '../../core/refusal.ts'
import { decideApproval, getCeremony } from '../approvals/decider.ts'
import { registerDevice } from '../approver/registration.ts'
import type { Handlers } from '../call/call.ts'
import { reachOrganization } from '../call/tenant.ts'
import { hasOtherAdministrator } from '../devices/administrators.ts'
import { requireCodes } from '../devices/code.ts'
import { challengeOfToken, insertEnrollment } from '../devices/enrollment.ts'
import { proofRequired } from '../devices/proof.ts'
import { findDevice, listDevices } from '../devices/record.ts'
import { keepSite } from '../devices/site.ts'
import { approveRecovery, refuseDevice, revokeDevice } from '../devices/transitions.ts'
import { findUser } from '../members/member.ts'
import { readDevicePolicy } from '../policy/device-policy.ts'

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
  listDevices,

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
  getCeremony,
  decideApproval,
}
