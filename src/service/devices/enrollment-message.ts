import type { Data } from '../../contract/operation.ts'
import type { pendingUser } from '../../contract/pending-user.ts'
import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import { withFullStop } from '../../core/sentence.ts'
import type { Call } from '../call/call.ts'
import { type Member, readMobile, organizationRow } from '../call/tenant.ts'
import { readDevicePolicy } from '../policy/device-policy.ts'
import { readVerified } from './accounts.ts'
import { endEnrollments, insertEnrollment } from './enrollment.ts'
import { everHadDevice, hasActiveDevice } from './proof.ts'
import { bindSite } from './site.ts'

type SentEnrollment = NonNullable<Data<typeof pendingUser.acceptUser>['enrollment']>

/** Longer than the lifetime of a link that an administrator hands over, because the person does not expect the message. */
const lifetimeMs = 24 * 60 * 60_000

/**
 * The address that the person verified in the app, with a key of this organization or of the operator. It must not have
 * changed during the last cooling period: an attacker could have changed it. For a recovery the verification must be as
 * old, because an attacker could have created a new account.
 */
const verifiedAddress = async (call: Call, member: Member): Promise<string | undefined> => {
  const { recoveryDelayMs } = await readDevicePolicy(call, member.org_id)
  const before = addMs(call.now, -recoveryDelayMs)
  const isRecovery = await everHadDevice(call, member)
  const verified = await readVerified(call, member)
  return verified.find(
    ({ email_changed_at, email_verified_at }) =>
      (email_changed_at === null || email_changed_at <= before) &&
      (!isRecovery || email_verified_at <= before),
  )?.email
}

/** The member's mobile number identifies them, so it comes first. An e-mail address counts only if it is verified. */
const chooseRecipient = async (call: Call, member: Member) => {
  if (call.service.channels.has('sms'))
    return { channel: 'sms', to: await readMobile(call, member.user_id) } as const
  const to = call.service.channels.has('email') ? await verifiedAddress(call, member) : undefined
  return to === undefined ? undefined : ({ channel: 'email', to } as const)
}

/** Why no device can be registered at the address of this service; undefined if one can. */
const siteProblem = async ({ db, service }: Call): Promise<string | undefined> => {
  try {
    await bindSite(db, service.publicUrl)
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return [withFullStop(error.message), error.hint].filter(Boolean).join(' ')
    throw error
  }
}

const notSent = (next: string): SentEnrollment => ({
  channel: null,
  message_id: null,
  expires_at: null,
  next,
})

/**
 * Sends an accepted member the link that registers their first device, in this transaction. No response contains the
 * link. Returns undefined for a member who has a device. If nothing could be sent, `channel` is null and `next` says what
 * the administrator must do.
 */
export const sendEnrollment = async (call: Call, member: Member): Promise<SentEnrollment | undefined> => {
  const { org_id, user_id } = member
  if (await hasActiveDevice(call, member)) return undefined
  const { name, slug } = await organizationRow(call.db, org_id)
  const recipient = await chooseRecipient(call, member)
  if (!recipient) return notSent(`svc user enroll ${user_id} --org ${slug}`)
  const problem = await siteProblem(call)
  if (problem !== undefined) return notSent(problem)

  await endEnrollments(call, member)
  const { url, expires_at } = await insertEnrollment(call, member, lifetimeMs)
  const message_id = await call.send({
    org_id,
    ...recipient,
    kind: 'enrollment',
    subject: `${name}: register your phone`,
    text: `${name} asks you to register a phone. Open this link on the phone with which you want to approve requests. It works once, for 24 hours:\n${url}`,
    expires_at,
    registers: true,
  })
  await call.audit(org_id, `user:${user_id}`, ['enrollment', `message:${message_id}`])
  return { channel: recipient.channel, message_id, expires_at, next: null }
}
