import { findBallot } from '../approvals/ballots.ts'
import { readRowTexts } from '../approvals/batch-list.ts'
import { findApproval } from '../approvals/record.ts'
import type { HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'

/** For whoever is asked; a 404 for everybody else. */
export const listRequestRows: HandlerOf<'listRequestRows'> = async ({ request_id, from = 0 }, call) => {
  const { db, caller } = call
  const { org_id, user_id } = requirePerson(caller)
  const request = await findApproval(db, request_id, { orgId: org_id })
  await findBallot(db, request, user_id)
  return readRowTexts(call, request, from)
}
