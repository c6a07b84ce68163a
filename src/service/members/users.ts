import { sql } from 'kysely'
import { lookAlikeOf } from '../../core/look-alike.ts'
import { conflict } from '../../core/refusal.ts'
import type { Phone } from '../../factors/phone.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { changedFields, parsePhone } from '../call/input.ts'
import { readPage } from '../call/pagination.ts'
import { ofMember, reachOrganization } from '../call/tenant.ts'
import { readAbsences } from '../devices/absences.ts'
import { promotionCooling } from '../devices/administrators.ts'
import { appoint } from '../devices/appointments.ts'
import { notifyLess, notifyNewAddress, notifyPromotion } from '../devices/notices.ts'
import { addMember, checkRole, findUser, ownUser, selectUsers, type UserRecord } from './member.ts'

const changeable = ['email', 'first_name', 'last_name', 'role'] as const
const identity = ['country_code', 'mobile'] as const

/** Whether this is the number of the person, in any spelling. */
const isNumberOf = (person: Phone, mobile?: string, countryCode = ownPrefix(person, mobile)): boolean =>
  mobile === undefined
    ? countryCode === person.country_code
    : parsePhone(mobile, countryCode).mobile === person.mobile

/** A national number is read as one of the person's country. */
const ownPrefix = (person: Phone, mobile?: string): string | undefined =>
  mobile?.startsWith('+') ? undefined : person.country_code

/** Everybody who is or was in the organization. */
const membersOf = ({ db }: Call, orgId: number) =>
  db.selectFrom('memberships as m').where('m.org_id', '=', orgId)

type Users = ReturnType<typeof selectUsers>

const pageOf = async (call: Call, org_id: number, query: Users): Promise<UserRecord[]> =>
  (await readPage(call, query, 'm.user_id', membersOf(call, org_id))).map((user) => ownUser(call, user))

export const listUsers: HandlerOf<'listUsers'> = async ({ org_id, state, mobile, email }, call) => {
  await reachOrganization(call, org_id)
  const number = mobile === undefined ? undefined : parsePhone(mobile).mobile
  const query = selectUsers(call)
    .where('m.org_id', '=', org_id)
    .where('m.state', state === undefined ? '<>' : '=', state ?? 'removed')
    .$if(number !== undefined, (users) => users.where('p.mobile', '=', number!))
    .$if(email !== undefined, (users) => users.where(sql`lower(m.email)`, '=', email!.toLowerCase()))
  return pageOf(call, org_id, query)
}

export const listPendingUsers: HandlerOf<'listPendingUsers'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  const query = selectUsers(call).where('m.org_id', '=', org_id).where('m.state', '=', 'pending')
  return pageOf(call, org_id, query)
}

export const getUser: HandlerOf<'getUser'> = async ({ orgId, userId }, call) => {
  await reachOrganization(call, orgId)
  const found = await findUser(call, orgId, userId)
  const away = (await readAbsences(call, orgId, [userId])).get(userId)
  return { ...found, ...(away && { away }) }
}

export const createUser: HandlerOf<'createUser'> = async ({ orgId, ...input }, call) => {
  await reachOrganization(call, orgId)
  return addMember(call, orgId, input)
}

export const updateUser: HandlerOf<'updateUser'> = async ({ orgId, userId, ...input }, call) => {
  await reachOrganization(call, orgId)
  const { mobile, country_code, ...changes } = changedFields<
    typeof input,
    (typeof changeable | typeof identity)[number]
  >(input, changeable, identity)
  const present = await findUser(call, orgId, userId)
  if (changes.role !== present.role) checkRole(call, changes.role)
  const phone = { mobile: present.mobile_e164, country_code: present.country_code }
  if (!isNumberOf(phone, mobile, country_code))
    throw conflict(
      'mobile_is_identity',
      "A user's mobile number cannot be changed",
      'Remove this user and create one with the new number',
    )
  const member = { org_id: orgId, user_id: userId }
  // Before the change, so that the old address gets the notice.
  if (changes.email !== undefined && changes.email !== present.email) await notifyNewAddress(call, member)
  const promotion = changes.role && (await promotionCooling(call, member, changes.role))
  if (present.role !== 'member' && changes.role === 'member')
    await notifyLess(call, member, 'no longer an administrator')
  const { first_name = present.first_name, last_name = present.last_name } = changes
  const look_alike = lookAlikeOf(`${first_name} ${last_name}`)
  await call.db
    .updateTable('memberships')
    .set({ ...changes, ...promotion, look_alike, updated_at: call.now })
    .where(ofMember(member))
    .where('state', '<>', 'removed')
    .returning('id')
    .executeTakeFirstOrThrow(() =>
      conflict('user_removed', 'The user was removed', 'Add the user again: svc user create'),
    )
  await call.audit(orgId, `user:${userId}`)
  if (promotion) {
    await appoint(call, member)
    await notifyPromotion(call, member, promotion)
  }
  return findUser(call, orgId, userId)
}
