import { notFound } from '../../core/refusal.ts'
import { grantRecords } from '../approvals/grant-list.ts'
import { endGrants } from '../approvals/grants.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { usableGrants } from '../policy/group-rows.ts'

// What a person allowed again, which only they can end here.

export const readOwnGrants = async (call: Call) => {
  const { org_id, user_id } = requirePerson(call.caller)
  const own = (await usableGrants(call, org_id)).filter((one) => one.user_id === user_id)
  const records = await grantRecords(call, org_id, own)
  return records.map(({ request_id, credential, what, varying, used, uses, ends_at }) => ({
    request_id,
    credential,
    what,
    varying,
    used,
    uses,
    ends_at,
  }))
}

export const endOwnGrant: HandlerOf<'endOwnGrant'> = async ({ request_id }, call) => {
  const { org_id, user_id } = requirePerson(call.caller)
  const ended = await endGrants(
    call,
    org_id,
    (one) => one.request_id === request_id && one.user_id === user_id,
  )
  if (ended.length === 0) throw notFound('Grant')
}
