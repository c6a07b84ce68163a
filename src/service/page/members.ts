import { hiddenNumber } from '../../core/phone-parts.ts'
import { forbidden } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { isAdministrator } from '../devices/administrators.ts'
import { selectUsers, type UserRecord } from '../members/member.ts'

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
  const { email, role, state, updated_at } = user
  return { ...maskedPerson(user), email, role, state, updated_at }
}

/** The people whom these rows are about, by id. */
export const readPeople = async (call: Call, org_id: number, rows: readonly { user_id: number }[]) => {
  const ids = [...new Set(rows.map(({ user_id }) => user_id))]
  if (ids.length === 0) return new Map<number, ReturnType<typeof maskedPerson>>()
  const users = await selectUsers(call).where('m.org_id', '=', org_id).where('m.user_id', 'in', ids).execute()
  return new Map(users.map((user) => [user.id, maskedPerson(user)]))
}
