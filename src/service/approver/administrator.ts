import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { administrators } from '../devices/administrators.ts'

/** The administrator at the page; 403 for everybody else, and for one who is none any more. */
export const requireAdmin = async (call: Call) => {
  const person = requirePerson(call.caller)
  await administrators(call.db, person.org_id)
    .where('m.user_id', '=', person.user_id)
    .select('m.id')
    .executeTakeFirstOrThrow(
      () => new Refusal(403, 'admin_only', 'Only an admin of the organization can do this'),
    )
  return person
}
