import { forbidden, type Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import type { RowData } from '../call/row-ids.ts'
import type { Service } from '../call/service.ts'
import { ofMember } from '../call/tenant.ts'
import { devicesInAnyState } from '../devices/active.ts'
import { inactiveDevice } from '../devices/record.ts'
import { type DeviceRow, isAuthenticDevice } from '../devices/rows.ts'
import type { Db } from '../storage/schema.ts'

/**
 * Why a device of somebody who is not an active member cannot be used. Only a browser that has proved whose device it is may
 * know, because it says something about its owner: with a signature, or with the cookie of a session.
 */
export const membershipEnded = async (
  { db }: Pick<Call, 'db'>,
  device: DeviceRow,
): Promise<Refusal | undefined> => {
  const member = await db
    .selectFrom('memberships as m')
    .innerJoin('organizations as o', 'o.id', 'm.org_id')
    .where(ofMember(device, 'm'))
    .select(['m.state', 'o.name as organization'])
    .executeTakeFirst()
  if (member?.state === 'active') return undefined
  if (member?.state !== 'pending')
    return forbidden(
      'not_a_member',
      'The owner of this device is not a member of the organization any more',
      'Ask an administrator to add the person again: svc user create',
      { organization: member?.organization ?? null },
    )
  return forbidden(
    'member_on_hold',
    `The membership of the owner of this device in ${member.organization} is on hold`,
    'Ask an administrator to accept the person again: svc user pending accept',
    { organization: member.organization },
  )
}

export type Named = { organization: string }

/** The organization that a refusal is about: the device has proved that it is, or was, registered there. */
export const organizationNamed = (db: Db, org_id: number): Promise<Named | undefined> =>
  db.selectFrom('organizations').where('id', '=', org_id).select('name as organization').executeTakeFirst()

type Closed = RowData<'listSessions'>['closed'][number]

/** The cookie of a session, by the hash of its token. */
export type SessionCookie = { token_hash: string; org_id: number }

/** Why sessions of a browser do not count, although they have neither expired nor been ended. */
export const readClosed = (
  { storage, keyring, dev }: Service,
  cookies: readonly SessionCookie[],
): Promise<Closed[]> =>
  storage.read(async (db) => {
    const closed: Closed[] = []
    for (const { token_hash, org_id } of cookies) {
      const device = (await devicesInAnyState(db, dev)
        .innerJoin('approver_sessions as s', 's.device_id', 'd.id')
        .where('s.token_hash', '=', token_hash)
        .where('d.org_id', '=', org_id)
        .where('s.expires_at', '>', storage.now())
        .selectAll('d')
        .executeTakeFirst()) as DeviceRow | undefined
      if (!device || !isAuthenticDevice({ keyring }, device)) continue
      const refusal =
        (await membershipEnded({ db }, device)) ??
        (device.state === 'active' ? undefined : inactiveDevice(device, await organizationNamed(db, org_id)))
      if (!refusal) continue
      const { credential_id } = device
      closed.push({ org_id, credential_id, code: refusal.code, ...refusal.data })
    }
    return closed
  })
