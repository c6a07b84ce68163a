import { hiddenNumber } from '../../core/phone-parts.ts'
import type { KeyOwner } from '../../receipt/context.ts'
import type { Call } from '../call/call.ts'
import { ofMember, readMobile } from '../call/tenant.ts'
import { hasTwin } from './people-text.ts'

/**
 * The owner of the requesting key as an active member of the organization, in separate fields: a name alone could be
 * imitated. Only the person's own device confirms that they own it.
 */
export const readKeyOwner = async (
  { db, caller, keyring }: Pick<Call, 'db' | 'caller' | 'keyring'>,
  org_id: number,
): Promise<KeyOwner | undefined> => {
  if (caller.ownerId === undefined) return undefined
  const member = { org_id, user_id: caller.ownerId }
  const row = await db
    .selectFrom('memberships as m')
    .where(ofMember(member, 'm'))
    .where('m.state', '=', 'active')
    .select(['m.first_name', 'm.last_name', hasTwin.as('twin')])
    .executeTakeFirst()
  if (!row) return undefined
  return {
    user_id: String(member.user_id),
    name: `${row.first_name} ${row.last_name}`,
    mobile: hiddenNumber(await readMobile({ db, keyring }, member.user_id)),
    confirmed: caller.person !== undefined || caller.ownerConfirmed === true,
    twin: row.twin === 1,
  }
}

/** The owner of the key of a request as a field of this name; no field if it had none. */
export const ownerOf = <F extends string>(
  { key_owner }: { key_owner: string | null },
  field: F,
): { [K in F]?: KeyOwner } =>
  key_owner === null ? {} : ({ [field]: JSON.parse(key_owner) as KeyOwner } as { [K in F]?: KeyOwner })
