import { hiddenNumber } from '../../core/phone-parts.ts'
import { forbidden } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { isAdministrator } from '../devices/administrators.ts'
import { ownUser, selectUsers, type UserRecord } from '../members/member.ts'

/** The administrator at the page. Fails with 403 for anybody else. */
export const requireAdmin = async (call: Call) => {
  const person = requirePerson(call.caller)
  if (!(await isAdministrator(call.db, person)))
    throw forbidden('admin_only', 'Only an administrator of the organization can do this')
  return person
}

/** A person as the page names them, with most of the number hidden. */
export const maskedPerson = ({
  id,
  first_name,
  last_name,
  mobile_e164: mobile,
}: Pick<UserRecord, 'id' | 'first_name' | 'last_name' | 'mobile_e164'>) => ({
  user_id: id,
  first_name,
  last_name,
  mobile: hiddenNumber(mobile),
})

/** A member as the page shows it to an administrator. */
export const maskedMember = (user: UserRecord) => {
  const { email, role, state, held_at, updated_at } = user
  return { ...maskedPerson(user), email, role, state, held_at, updated_at }
}

/** These members, by id, as the page shows them. */
export const readMembers = async <T>(
  call: Call,
  org_id: number,
  ids: readonly number[],
  show: (user: UserRecord) => T,
): Promise<Map<number, T>> => {
  if (ids.length === 0) return new Map()
  const users = selectUsers(call)
    .where('m.org_id', '=', org_id)
    .where('m.user_id', 'in', [...new Set(ids)])
  return new Map((await users.execute()).map((user) => [user.id, show(ownUser(call, user))]))
}

export const readPeople = (call: Call, org_id: number, ids: readonly number[]) =>
  readMembers(call, org_id, ids, maskedPerson)
