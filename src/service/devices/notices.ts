import { safeLine } from '../../core/safe-text.ts'
import type { Call } from '../call/call.ts'
import { type Member, ofMember, organizationRow } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'
import { readVerified } from './accounts.ts'
import { administrators } from './administrators.ts'
import { hasPush } from './push-targets.ts'

type Deps = Pick<Call, 'db' | 'now' | 'service' | 'send'>

/**
 * A message about devices, about a request that was reported or broke the glass, or about a group. It contains no text of
 * whoever registers a device or requests an approval: an attacker must not choose the words of a message that the service
 * vouches for.
 */
type Notice = {
  about?: 'devices' | 'report' | 'group' | 'emergency' | 'grant'
  subject: string
  text: string
}

const longDate = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

/** A time in an e-mail: `31 January 2030 at 12:00 UTC`. */
export const noticeTime = (at: string): string => `${longDate.format(new Date(at))} UTC`

/** What names are made of. Anything else could imitate the id of the person, or another person beside them. */
const plainName = /^[\p{L}\p{M}\p{N} .'’-]+$/u
export const quotedName = (name: string): string => (plainName.test(name) ? name : JSON.stringify(name))

/**
 * Members in an e-mail, in this order: `Ada Lovelace (user 3)`. A name that is not plain is quoted, as
 * JSON. Whoever added or accepted a member has seen the name.
 */
export const namesOf = async (db: Db, org_id: number, users: readonly number[]): Promise<string[]> => {
  if (users.length === 0) return []
  const rows = await db
    .selectFrom('memberships')
    .where('org_id', '=', org_id)
    .where('user_id', 'in', users)
    .select(['user_id', 'first_name', 'last_name'])
    .execute()
  const names = new Map(rows.map((row) => [row.user_id, safeLine(`${row.first_name} ${row.last_name}`)]))
  // A device can outlive the membership.
  return users.map((id) => (names.has(id) ? `${quotedName(names.get(id)!)} (user ${id})` : `User ${id}`))
}

export const nameOf = async (db: Db, { org_id, user_id }: Member): Promise<string> =>
  (await namesOf(db, org_id, [user_id]))[0]!

/** Push services can read a push, so it says only that something changed. */
const pushTextOf = (about: string, organization: string): string =>
  JSON.stringify({ notice: about, organization })

/** The addresses that the organization has and that the person verified, each once. */
const readAddresses = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  member: Member,
): Promise<Iterable<string>> => {
  const known = await db.selectFrom('memberships').where(ofMember(member)).select('email').execute()
  const verified = await readVerified({ db, keyring }, member)
  const addresses = new Map<string, string>()
  for (const { email } of [...known, ...verified.toReversed()])
    if (email) addresses.set(email.toLowerCase(), email)
  return addresses.values()
}

/** The devices and the e-mail addresses at which a member can be notified, of the channels that are configured. */
const readReach = async (
  { db, service }: Pick<Call, 'db' | 'service'>,
  member: Member,
  { isAboutDevices }: { isAboutDevices: boolean },
) => {
  const devices = service.channels.has('push')
    ? await db
        .selectFrom('devices as d')
        .where(hasPush())
        .where(ofMember(member, 'd'))
        .where('d.bound_at', 'is not', null)
        // About devices, also those that were active once: the owner may still have one that was revoked.
        .$if(!isAboutDevices, (query) => query.where('d.state', '=', 'active'))
        .select('d.id')
        .orderBy('d.id')
        .execute()
    : []
  const addresses = service.channels.has('email')
    ? [...(await readAddresses({ db, keyring: service.keyring }, member))]
    : []
  return { devices, addresses }
}

/** Whether a message about something else than devices reaches a member. */
export const isReachable = async (call: Pick<Call, 'db' | 'service'>, member: Member): Promise<boolean> => {
  const { devices, addresses } = await readReach(call, member, { isAboutDevices: false })
  return devices.length + addresses.length > 0
}

/** Notifies a member on every device and at every e-mail address, if the channels are configured. */
export const notifyMember = async (
  call: Deps,
  member: Member,
  { about = 'devices', subject, text }: Notice,
): Promise<void> => {
  const { org_id } = member
  const isAboutDevices = about === 'devices'
  const kind = isAboutDevices ? 'device' : about
  const { name } = await organizationRow(call.db, org_id)
  const { devices, addresses } = await readReach(call, member, { isAboutDevices })
  for (const { id } of devices)
    await call.send({ org_id, channel: 'push', kind, to: String(id), text: pushTextOf(about, name) })
  const message = {
    org_id,
    channel: 'email',
    kind,
    subject: `${name}: ${subject}`,
    text: isAboutDevices ? `${text}\n\nYour devices: ${call.service.publicUrl}/approver#devices` : text,
  } as const
  for (const to of addresses) await call.send({ ...message, to })
}

/** Notifies every administrator of the organization except the member that the notice is about. */
export const notifyAdministrators = async (call: Deps, { org_id, user_id }: Member, notice: Notice) => {
  const others = await administrators(call.db, org_id)
    .where('m.user_id', '<>', user_id)
    .select('m.user_id')
    .orderBy('m.id')
    .execute()
  for (const other of others) await notifyMember(call, { org_id, ...other }, notice)
}

/** Notifies the other administrators of a new one. */
export const notifyPromotion = async (
  call: Deps,
  member: Member,
  { admin_from }: { admin_from: string | null },
): Promise<void> => {
  const { slug } = await organizationRow(call.db, member.org_id)
  const from = admin_from === null ? 'immediately' : `from ${noticeTime(admin_from)} on`
  await notifyAdministrators(call, member, {
    subject: 'A new administrator',
    text: `${await nameOf(call.db, member)} is an administrator now and can approve recoveries of lost devices ${from}. If this was not agreed, change the role: svc user update ${member.user_id} --role member --org ${slug}`,
  })
}

/** Notifies a member who may do less from now on: without a message, they would not hear of what is asked without them. */
export const notifyLess = (call: Deps, member: Member, what: 'on hold' | 'no longer an administrator') =>
  notifyMember(call, member, {
    about: 'group',
    subject: `You are ${what}`,
    text: `You are ${what}, so nobody asks you for approvals as before. If this was not agreed, tell your administrator.`,
  })

/** Notifies a member of a new address, at the addresses so far. */
export const notifyNewAddress = (call: Deps, member: Member): Promise<void> =>
  notifyMember(call, member, {
    subject: 'Your e-mail address changed',
    text: 'Messages about your devices go to a new e-mail address from now on. If this was not you, tell your administrator.',
  })
