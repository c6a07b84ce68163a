import { conflict } from '../../core/refusal.ts'
import { nothingAdded, readAddedByDevice } from '../approvals/added.ts'
import { endAdded } from '../approvals/added-ending.ts'
import type { HandlerOf } from '../call/call.ts'
import { notConfigured } from '../call/message.ts'
import { reachOrganization } from '../call/tenant.ts'
import { challengeOfToken, insertEnrollment } from '../devices/enrollment.ts'
import { hasActiveDevice, requiredProof } from '../devices/proof.ts'
import { comparisonCode, findDevice, findOwnDevice, toDeviceRecord } from '../devices/record.ts'
import { canAdministratorApprove } from '../devices/recovery.ts'
import { bindSite } from '../devices/site.ts'
import { approveRecovery, refuseDevice as refuse, revoke } from '../devices/transitions.ts'
import { findUser } from '../members/member.ts'
import { readDevicePolicy } from '../policy/device-policy.ts'

export const createEnrollment: HandlerOf<'createEnrollment'> = async (member, call) => {
  const { org_id, user_id } = member
  await reachOrganization(call, org_id)
  const { state } = await findUser(call, org_id, user_id)
  if (state !== 'active')
    throw conflict(`user_${state}`, `The user is ${state}; only an active user can register a device`)
  const proof = await requiredProof(call, member, await readDevicePolicy(call, org_id))
  // Without a code, a first device would stay pending for ever.
  if (proof === 'otp' && !call.service.channels.has('sms')) throw notConfigured('sms')
  const site = await bindSite(call.db, call.service.publicUrl)
  const enrollment = await insertEnrollment(call, member)
  await call.audit(org_id, `user:${user_id}`, ['enrollment'])
  return { ...enrollment, ...site, challenge: challengeOfToken(enrollment.token), proof }
}

export const listAdded: HandlerOf<'listAdded'> = async ({ org_id, device_id }, call) => {
  await reachOrganization(call, org_id)
  return readAddedByDevice(call, await findDevice(call, org_id, device_id))
}

/** `next` says what follows for a member without any other device. */
export const revokeDevice: HandlerOf<'revokeDevice'> = async ({ with_added = false, ...target }, call) => {
  await reachOrganization(call, target.org_id)
  const present = await findDevice(call, target.org_id, target.device_id)
  const outcome = await endAdded(call, () => readAddedByDevice(call, present), with_added)
  // What a revoked device added can still end with it.
  const isLate = present.state === 'revoked' && outcome.ended !== nothingAdded
  const revoked = isLate ? present : await revoke(call, target)
  const isLast = revoked.bound_at !== null && !(await hasActiveDevice(call, revoked))
  return {
    ...toDeviceRecord(revoked),
    ...outcome,
    // A sign-in with the device ended with it.
    ...(!with_added && { remaining: await readAddedByDevice(call, present) }),
    next: isLast
      ? 'The user has no active device now. The next one needs the approval of an administrator (a recovery).'
      : null,
  }
}

export const approveDevice: HandlerOf<'approveDevice'> = async (input, call) => {
  const { org_id, device_id, comparison_code } = input
  await reachOrganization(call, org_id)
  const device = await findOwnDevice(call, org_id, device_id)
  if (comparison_code.replaceAll(/\s/g, '') !== comparisonCode(device))
    throw conflict(
      'comparison_differs',
      `The device ${device_id} shows other digits, so it may be that of somebody else; nothing was changed`,
      'Let its owner read out the six digits that the new device shows',
    )
  if (await canAdministratorApprove(call, device))
    throw conflict(
      'administrator_approves',
      'Another administrator of the organization has an active device and must approve this recovery with it',
      'The administrator approves it on the approver page, under Devices',
    )
  return approveRecovery(call, input)
}

export const refuseDevice: HandlerOf<'refuseDevice'> = async (input, call) => {
  await reachOrganization(call, input.org_id)
  return refuse(call, input)
}
