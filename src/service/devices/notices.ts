import type { Call } from '../call/call.ts'
import { organizationRow } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'
import { administrators } from './administrators.ts'
import type { Member } from './proof.ts'

type Deps = Pick<Call, 'db' | 'now' | 'canSend' | 'send' | 'publicUrl'>

/**
 * A message about devices. It contains no text that a person typed: whoever registers a device would otherwise choose the
 * words of a message that the service vouches for.
 */
type Notice = { subject: string; text: string }

/** Push services read the push, so it says only that something changed. */
const pushed = JSON.stringify({ notice: 'devices' })

/** Devices that were ever active: the owner may still hold one that was revoked. */
const devicesToTell = (db: Db, { org_id, user_id }: Member) =>
  db
    .selectFrom('devices as d')
    .innerJoin('push_subscriptions as p', 'p.device_id', 'd.id')
    .where('d.org_id', '=', org_id)
    .where('d.user_id', '=', user_id)
    .where('d.bound_at', 'is not', null)
    .select('d.id')
    .execute()

/** The address that the organization has, and those that the person proved. */
const addressesOf = async (db: Db, { org_id, user_id }: Member): Promise<string[]> => {
  const member = await db
    .selectFrom('memberships')
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .select('email')
    .execute()
  const proved = await db
    .selectFrom('mobile_accounts')
    .where('user_id', '=', user_id)
    .where('org_id', 'in', [org_id, 0])
    .where('email_verified_at', 'is not', null)
    .select('email')
    .execute()
  const addresses = new Map<string, string>()
  for (const { email } of [...member, ...proved]) if (email) addresses.set(email.toLowerCase(), email)
  return [...addresses.values()]
}

/** Tells a member on every device and at every e-mail address, where such messages can be sent. */
export const tellMember = async (call: Deps, member: Member, { subject, text }: Notice): Promise<void> => {
  const { org_id } = member
  if (call.canSend('push'))
    for (const { id } of await devicesToTell(call.db, member))
      await call.send({ org_id, channel: 'push', kind: 'device', to: String(id), text: pushed })
  if (!call.canSend('email')) return
  const { name } = await organizationRow(call.db, org_id)
  const body = `${text}\n\nYour devices: ${call.publicUrl}/approver#devices`
  for (const to of await addressesOf(call.db, member))
    await call.send({
      org_id,
      channel: 'email',
      kind: 'device',
      to,
      subject: `${name}: ${subject}`,
      text: body,
    })
}

/** Tells every administrator of the organization, but for whom it is about. */
export const tellAdministrators = async (
  call: Deps,
  { org_id, user_id }: Member,
  notice: Notice,
): Promise<void> => {
  const others = await administrators(call.db, org_id)
    .where('m.user_id', '<>', user_id)
    .select('m.user_id')
    .execute()
  for (const other of others) await tellMember(call, { org_id, ...other }, notice)
}

/** Tells the other administrators of a new one. */
export const tellPromotion = (
  call: Deps,
  member: Member,
  { admin_from }: { admin_from: string | null },
): Promise<void> =>
  tellAdministrators(call, member, {
    subject: 'A new administrator',
    text: `User ${member.user_id} is an administrator now and can approve recoveries of lost devices ${admin_from === null ? 'at once' : `from ${admin_from} on`}. If nobody agreed to that, change the role: svc user update ${member.user_id} --role member`,
  })

/** Tells a member that their address changes, at the address that they have had. */
export const tellNewAddress = (call: Deps, member: Member): Promise<void> =>
  tellMember(call, member, {
    subject: 'Your e-mail address changed',
    text: 'Messages about your devices go to a new e-mail address from now on. If this was not you, tell your administrator.',
  })
