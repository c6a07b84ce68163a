import { forbidden } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { requireTerminal } from '../call/caller.ts'
import { reachOrganization } from '../call/tenant.ts'
import { changeAbsence } from '../devices/absences.ts'
import { isAdministrator } from '../devices/administrators.ts'
import { demandConsent } from '../keys/keys.ts'

/** Only a person says when they are away: whoever has a key could otherwise choose who is asked. */
export const setAway: HandlerOf<'setAway'> = async ({ org_id, user_id, ...wanted }, call) => {
  if (org_id !== undefined) await reachOrganization(call, org_id)
  const by = requireTerminal(
    call.caller,
    'set when they are away',
    'Sign in: svc profile login. Or set it on the approver page',
  )
  const member = { ...by, user_id: user_id ?? by.user_id }
  if (member.user_id !== by.user_id && !(await isAdministrator(call.db, by)))
    throw forbidden(
      'admin_only',
      `Only an administrator can set when somebody else is away (user ${member.user_id})`,
      'Leave out --user to set when you are away',
    )
  const changed = await changeAbsence(call, member, wanted, by)
  demandConsent(call, by.org_id)
  return changed
}
