import type { approver } from '../../contract/approver.ts'
import type { device } from '../../contract/device.ts'
import { conflict, Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf, Outside } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import { devicesOf, ofKeptDevice } from '../devices/active.ts'
import { sendCode } from '../devices/code.ts'
import { challengeOfToken, enrollmentOver, findEnrollment, spendEnrollment } from '../devices/enrollment.ts'
import { tellAdministrators, tellMember } from '../devices/notices.ts'
import { type Member, proofRequired, settlePending } from '../devices/proof.ts'
import { answeredDevice } from '../devices/record.ts'
import { insertDeviceRow } from '../devices/rows.ts'
import { readSite } from '../devices/site.ts'
import { checkModel, readDevicePolicy } from '../policy/device-policy.ts'
import { usesLocation } from '../policy/rules.ts'
import { startSession } from './session.ts'

export const beginEnrollment: HandlerOf<typeof approver.beginEnrollment> = async ({ token }, call) => {
  const enrollment = await findEnrollment(call, token)
  if (!enrollment) throw enrollmentOver()
  const { org_id, user_id, user_handle, first_name, last_name, organization } = enrollment
  const { attestation } = await readDevicePolicy(call, org_id)
  const { rp_id } = await readSite(call.db, call.publicUrl)
  const registered = await devicesOf(call.db, { org_id, user_id })
    .where(ofKeptDevice('devices'))
    .select('credential_id')
    .execute()
  return {
    first_name,
    organization,
    user_name: `${first_name} ${last_name}, ${organization}`,
    rp_id,
    challenge: challengeOfToken(token),
    user_handle,
    exclude: registered.map((one) => one.credential_id),
    attestation,
    wants_location: await usesLocation(call.db, org_id, user_id),
  }
}

type Registration = RowInput<typeof device.registerDevice>
type Row = { id: number; proof: 'link' | 'otp' | 'device' | 'admin' }

const softwareNotAllowed = (): Refusal =>
  new Refusal(403, 'software_not_allowed', 'A software key counts only where the service runs with --dev', {
    hint: 'Register a phone, or start a service for development: svc serve --dev',
  })

const whatItWaitsFor: Record<Row['proof'], string> = {
  link: 'It is active.',
  otp: 'It becomes active with the code that was sent to your mobile.',
  device: 'Approve or refuse it on one of your other devices.',
  admin: 'It becomes active only after an administrator approved it.',
}

const tell = async (call: Call, member: Member, { id, proof }: Row): Promise<void> => {
  await tellMember(call, member, {
    subject: 'A device was registered',
    text: `A new device was registered for you. ${whatItWaitsFor[proof]} If this was not you, refuse it on any device that you ever registered, and tell your administrator.`,
  })
  if (proof !== 'admin') return
  await tellAdministrators(call, member, {
    subject: 'A recovery waits for approval',
    text: `User ${member.user_id} has no active device and registered a new one (device ${id}). Approve it on the approver page only after you have spoken with that person.`,
  })
}

/** Each one that is registered sends messages, and waits for somebody to look at it. */
const pendingAtMost = 5

const refuseMany = async (call: Call, { org_id, user_id }: Member): Promise<void> => {
  const pending = await devicesOf(call.db, { org_id, user_id })
    .where('state', '=', 'pending')
    .select('id')
    .execute()
  if (pending.length >= pendingAtMost)
    throw conflict(
      'too_many_pending_devices',
      `${pending.length} devices of this user are pending already`,
      `Refuse those that nobody needs: svc user devices refuse ${pending[0]!.id}`,
    )
}

/** Registers a device with the token of a link, as active or as pending: that is for its member's history to say. */
const insertDevice = async (
  call: Call,
  token: string,
  values: Pick<Registration, 'name'> & Awaited<ReturnType<typeof verified>>,
) => {
  const { created_by, ...member } = await spendEnrollment(call, token)
  const { org_id, user_id } = member
  const policy = await readDevicePolicy(call, org_id)
  const { vouched, ...kept } = values
  checkModel({ ...kept, vouched }, policy)
  const proof = await proofRequired(call, member, policy)
  if (proof !== 'link') await refuseMany(call, member)
  const row = await insertDeviceRow(call, {
    ...kept,
    ...member,
    registered_at: call.now,
    proof,
    enrolled_by: created_by,
    ...(proof === 'link' ? { state: 'active', bound_at: call.now } : { state: 'pending' }),
  })
  if (!row) throw conflict('device_known', 'This key is registered already', 'Register another')
  await call.audit(org_id, `device:${row.id}`, ['name', 'kind', 'state'], `user:${user_id}`)
  if (proof === 'link') await settlePending(call, member)
  if (proof === 'otp') await sendCode(call, row)
  await tell(call, member, row)
  // The pages of the person's other devices, and of administrators, show it.
  call.wake(member)
  // Who has just proved it goes straight to the inbox.
  if (row.state === 'active' && row.kind === 'phone') await startSession(call, row.id)
  return answeredDevice(row)
}

const verified = async (
  { token, software = false, response }: Registration,
  { storage, publicUrl, dev }: Outside['service'],
) => {
  const site = await storage.read((db) => readSite(db, publicUrl))
  // The verifier takes long to load, and not every service sees a device.
  const { verifyRegistration } = await import('../devices/registration-response.ts')
  const { software: isSoftware, ...key } = await verifyRegistration(response, site, challengeOfToken(token))
  const kind = software || isSoftware ? ('software' as const) : ('phone' as const)
  if (kind === 'software' && !dev) throw softwareNotAllowed()
  return { ...key, kind }
}

export const registerDevice = {
  before: async (input: Registration, { service }: Outside) => {
    const { token, name } = input
    const { storage, keyring } = service
    const now = storage.now()
    if (!(await storage.read((db) => findEnrollment({ db, now, keyring }, token)))) throw enrollmentOver()
    const key = await verified(input, service)
    return (call: Call) => insertDevice(call, token, { ...key, name })
  },
}
