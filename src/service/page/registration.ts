import { conflict, forbidden } from '../../core/refusal.ts'
import type { Call, HandlerOf, Outside } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import type { Member } from '../call/tenant.ts'
import { devicesOf, ofKeptDevice } from '../devices/active.ts'
import { wakeAdministrators } from '../devices/administrators.ts'
import { sendCode } from '../devices/code.ts'
import { linkEnded } from '../devices/ended-link.ts'
import { challengeOfToken, findEnrollment, useEnrollment } from '../devices/enrollment.ts'
import { nameOf, notifyAdministrators, notifyMember } from '../devices/notices.ts'
import { requiredProof, settlePending } from '../devices/proof.ts'
import { inactiveDevice, toDeviceRecord } from '../devices/record.ts'
import { type DeviceRow, insertDeviceRow, isAuthenticDevice } from '../devices/rows.ts'
import { readSite } from '../devices/site.ts'
import { consumeOrRefuse } from '../limits/rate-limit.ts'
import { checkModel, readDevicePolicy } from '../policy/device-policy.ts'
import { usesLocation } from '../policy/factor-settings.ts'
import { startSession } from './session.ts'
import { sha256 } from '../../core/ids.ts'

/**
 * The device that was registered with this token, if it has this credential. A registration that is repeated because its
 * answer was lost finds it; any other key finds nothing.
 */
const findRegistered = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  token: string,
  credential_id: string,
  public_key?: string,
): Promise<DeviceRow | undefined> => {
  const row = await db
    .selectFrom('enrollments as e')
    .innerJoin('devices as d', (join) =>
      join
        .onRef('d.org_id', '=', 'e.org_id')
        .onRef('d.user_id', '=', 'e.user_id')
        .onRef('d.registered_at', '=', 'e.used_at'),
    )
    .where('e.token_hash', '=', sha256(token))
    .where('d.credential_id', '=', credential_id)
    .$if(public_key !== undefined, (query) => query.where('d.public_key', '=', public_key!))
    .selectAll('d')
    .executeTakeFirst()
  return row && isAuthenticDevice({ keyring }, row) ? row : undefined
}

export const beginEnrollment: HandlerOf<'beginEnrollment'> = async ({ token }, call) => {
  const enrollment = await findEnrollment(call, token)
  if (!enrollment) throw await linkEnded(call, token)
  const { org_id, user_id, user_handle, first_name, last_name, organization } = enrollment
  const { attestation, authenticators } = await readDevicePolicy(call, org_id)
  const { rp_id } = await readSite(call.db, call.service.publicUrl)
  const devices = await devicesOf(call.db, { org_id, user_id })
    .where(ofKeptDevice('devices'))
    .select(['credential_id', 'name'])
    .execute()
  return {
    first_name,
    organization,
    user_name: `${first_name} ${last_name}, ${organization}`,
    rp_id,
    challenge: challengeOfToken(token),
    user_handle,
    exclude: devices.map((one) => one.credential_id),
    device_names: devices.map(({ name }) => name),
    attestation,
    authenticators: [...authenticators],
    wants_location: await usesLocation(call.db, { org_id, user_id }),
  }
}

type Registration = RowInput<'registerDevice'>

const nextStep: Record<DeviceRow['proof'], string> = {
  link: 'It is active. If this was not you, tell your administrator, who can remove it.',
  otp: 'It becomes active with the code that was sent to your mobile. If this was not you, give the code to nobody, and tell your administrator.',
  device:
    'Approve or refuse it on one of your other devices. If this was not you, refuse it there, and tell your administrator.',
  admin:
    'It becomes active only after an administrator approved it. If this was not you, refuse it on any device that you registered earlier, even one that was removed, and tell your administrator.',
}

const notify = async (call: Call, member: Member, { id, proof }: DeviceRow): Promise<void> => {
  await notifyMember(call, member, {
    subject: 'A device was registered',
    text: `A new device was registered for you. ${nextStep[proof]}`,
  })
  if (proof !== 'admin') return
  await notifyAdministrators(call, member, {
    subject: 'A recovery needs approval',
    text: `${await nameOf(call.db, member)} has no active device and registered a new one (device ${id}). Approve it on the approver page only after you have spoken with that person.`,
  })
}

/** Each registration sends messages, and an approver must look at each pending device. */
const maxPending = 5

const refuseMany = async (call: Call, member: Member): Promise<void> => {
  const pending = await devicesOf(call.db, member).where('state', '=', 'pending').select('id').execute()
  if (pending.length >= maxPending)
    throw conflict(
      'too_many_pending_devices',
      `${pending.length} devices of this user are already pending`,
      `Refuse those that are not needed: svc user devices refuse ${pending[0]!.id}`,
    )
}

/** Registers a device with the token of a link. The history of its member decides whether it is active or pending. */
const insertDevice = async (
  call: Call,
  token: string,
  values: Pick<Registration, 'name'> & Awaited<ReturnType<typeof verify>>,
) => {
  const { created_by, added_by, ...member } = await useEnrollment(call, token)
  const { org_id, user_id } = member
  const policy = await readDevicePolicy(call, org_id)
  checkModel(values, policy)
  const { vouched: _, authenticator: __, ...columns } = values
  const proof = await requiredProof(call, member, policy)
  if (proof !== 'link') await refuseMany(call, member)
  const row = await insertDeviceRow(call, {
    ...columns,
    ...member,
    registered_at: call.now,
    proof,
    enrolled_by: created_by,
    added_by,
    ...(proof === 'link' ? { state: 'active', bound_at: call.now } : { state: 'pending' }),
  })
  if (!row) throw conflict('device_known', 'This key is already registered', 'Register another')
  await call.audit(org_id, `device:${row.id}`, ['name', 'kind', 'state'], `user:${user_id}`)
  if (proof === 'link') await settlePending(call, member)
  if (proof === 'otp') await sendCode(call, row)
  await notify(call, member, row)
  // The person's other devices show it.
  call.wake({ org_id: member.org_id, users: [member.user_id] })
  if (proof === 'admin') await wakeAdministrators(call, org_id)
  // An active phone goes straight to the inbox, and a pending one as soon as it is active: until then, its session only says why not.
  if (row.kind === 'phone') await startSession(call, row)
  return toDeviceRecord(row)
}

const verify = async (
  { token, software = false, response }: Registration,
  { storage, publicUrl, dev }: Outside['service'],
) => {
  const site = await storage.read((db) => readSite(db, publicUrl))
  // The verifier is slow to load, and not every service needs it.
  const { verifyRegistration } = await import('../devices/registration-response.ts')
  const { software: isSoftware, ...key } = await verifyRegistration(response, site, challengeOfToken(token))
  const kind = software || isSoftware ? ('software' as const) : ('phone' as const)
  if (kind === 'software' && !dev)
    throw forbidden(
      'software_not_allowed',
      'A software key is accepted only if the service runs with --dev',
      'Register a phone, or start a service for development: svc serve --dev',
    )
  return { ...key, kind }
}

/** Each adds to the audit log, also long after the link was used. */
const repeats = { kind: 'registration-repeat', atMost: 10, windowMs: 10 * 60_000 }

/** The page did not get the answer and asks again. It gets no session, because it did not prove that it has the key. */
const repeatAnswer = async (call: Call, row: DeviceRow) => {
  if (row.state !== 'active' && row.state !== 'pending') throw inactiveDevice(row)
  await consumeOrRefuse(
    call,
    repeats,
    { org_id: row.org_id, subject: `device:${row.id}` },
    { code: 'rate_limited', what: `This registration was repeated ${repeats.atMost} times` },
  )
  await call.audit(row.org_id, `device:${row.id}`, ['repeated'], `user:${row.user_id}`)
  return { ...toDeviceRecord(row), repeated: true as const }
}

export const registerDevice: HandlerOf<'registerDevice'> = {
  before: async (input, { service }) => {
    const { token, name } = input
    const { storage, keyring } = service
    const now = storage.now()
    await storage.read(async (db) => {
      if (await findEnrollment({ db, now, keyring }, token)) return
      if (!(await findRegistered({ db, keyring }, token, input.response.id)))
        throw await linkEnded({ db, now }, token)
    })
    const key = await verify(input, service)
    return async (call) => {
      const registered = await findRegistered(call, token, key.credential_id, key.public_key)
      return registered ? repeatAnswer(call, registered) : insertDevice(call, token, { ...key, name })
    }
  },
}
