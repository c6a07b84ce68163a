import type { Data } from '../../contract/operation.ts'
import type { pendingUser } from '../../contract/pending-user.ts'
import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import { withFullStop } from '../../core/sentence.ts'
import type { Call } from '../call/call.ts'
import { mobileOf, organizationRow } from '../call/tenant.ts'
import { readDevicePolicy } from '../policy/device-policy.ts'
import { endEnrollments, insertEnrollment } from './enrollment.ts'
import { everHadDevice, hasActiveDevice } from './proof.ts'
import { keepSite } from './site.ts'

type Member = { org_id: number; user_id: number }
type Told = NonNullable<Data<typeof pendingUser.acceptUser>['enrollment']>
type Recipient = { channel: 'sms' | 'email'; to: string }

/** Longer than that of a link that an admin hands over: the person does not know when they are accepted. */
const lifetimeMs = 24 * 60 * 60_000

/**
 * The address that the person proved in the app, with the key of this organization or the operator's. One that changed
 * during the last cooling period may be that of whoever is about to take over; and who lost a device must have proved
 * theirs before it, as an account can be made anew.
 */
const provedAddress = async (call: Call, { org_id, user_id }: Member): Promise<string | undefined> => {
  const { recoveryDelayMs } = await readDevicePolicy(call, org_id)
  const before = addMs(call.now, -recoveryDelayMs)
  const isRecovery = await everHadDevice(call, { org_id, user_id })
  const account = await call.db
    .selectFrom('mobile_accounts')
    .where('user_id', '=', user_id)
    .where('org_id', 'in', [org_id, 0])
    .where('email', 'is not', null)
    .where('email_verified_at', 'is not', null)
    .where(({ or, eb }) => or([eb('email_changed_at', 'is', null), eb('email_changed_at', '<=', before)]))
    .$if(isRecovery, (query) => query.where('email_verified_at', '<=', before))
    .select('email')
    .orderBy('org_id', 'desc')
    .executeTakeFirst()
  return account?.email ?? undefined
}

/** The member's own mobile number first: it is who they are. An e-mail address counts only once it is proved. */
const recipientOf = async (call: Call, member: Member): Promise<Recipient | undefined> => {
  if (call.canSend('sms')) return { channel: 'sms', to: await mobileOf(call.db, member.user_id) }
  const address = call.canSend('email') ? await provedAddress(call, member) : undefined
  return address === undefined ? undefined : { channel: 'email', to: address }
}

/** Why no device can be registered at the address of this service; undefined where one can. */
const siteProblem = async ({ db, publicUrl }: Call): Promise<string | undefined> => {
  try {
    await keepSite(db, publicUrl)
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return [withFullStop(error.message), error.hint].filter(Boolean).join(' ')
    throw error
  }
}

const notSent = (next: string): Told => ({ channel: null, message_id: null, expires_at: null, next })

/**
 * Sends who was accepted the link that registers their first device, through the outbox and in this transaction. No
 * answer holds the link. Undefined for who has a device; `channel` is null where nothing could be sent, and `next` says what
 * an admin does instead.
 */
export const sendEnrollment = async (call: Call, member: Member): Promise<Told | undefined> => {
  const { org_id, user_id } = member
  if (await hasActiveDevice(call, member)) return undefined
  const organization = await organizationRow(call.db, org_id)
  const recipient = await recipientOf(call, member)
  if (!recipient) return notSent(`svc user enroll ${user_id} --org ${organization.slug}`)
  const problem = await siteProblem(call)
  if (problem !== undefined) return notSent(problem)

  await endEnrollments(call, member)
  const { url, expires_at } = await insertEnrollment(call, org_id, user_id, lifetimeMs)
  const message_id = await call.send({
    org_id,
    ...recipient,
    kind: 'enrollment',
    subject: `${organization.name}: register your phone`,
    text: `${organization.name} accepted you. Open this link on the phone with which you want to approve requests. It works once and for 24 hours:\n${url}`,
    expires_at,
  })
  await call.audit(org_id, `user:${user_id}`, ['enrollment', `message:${message_id}`])
  return { channel: recipient.channel, message_id, expires_at, next: null }
}
