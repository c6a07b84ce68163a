import type { approval } from '../../contract/approval.ts'
import type { HandlerOf } from '../call/call.ts'
import { isOperator, namedKeyOf } from '../call/caller.ts'
import { parsePhone } from '../call/input.ts'
import { byTime } from '../call/page.ts'
import { reachOrganization } from '../call/tenant.ts'
import { withdrawApproval } from './consumption.ts'
import { awaitEnd, readSettled } from './decision-waiter.ts'
import { sweep } from './expiry.ts'
import { answered, approvalAccess, selectApprovals } from './record.ts'
import { requestApproval } from './request.ts'

const columns = { key: 'a.id', at: 'a.requested_at', changed: 'a.ended_at' }

export const createApproval: HandlerOf<typeof approval.createApproval> = requestApproval

export const getApproval: HandlerOf<typeof approval.getApproval> = {
  before: async ({ request_id, wait_s }, outside) => {
    const { service, caller } = outside
    const access = approvalAccess(caller)
    const row =
      wait_s === undefined
        ? await readSettled(service, request_id, access)
        : await awaitEnd(service, request_id, access, { seconds: wait_s, signal: outside.signal?.() })
    return async (call) => answered(row, call.caller)
  },
}

export const listApprovals: HandlerOf<typeof approval.listApprovals> = {
  before: async (input, { service }) => {
    const mobile =
      input.approver_mobile && parsePhone(input.approver_mobile, undefined, 'approver_mobile').mobile
    await sweep(service)
    return async (call) => {
      const { org_id, status } = input
      if (org_id !== undefined) await reachOrganization(call, org_id)
      const query = selectApprovals(call.db, {
        ...approvalAccess(call.caller),
        orgId: org_id ?? call.caller.orgId,
      })
        .$if(status !== undefined, (some) => some.where('a.status', '=', status!))
        .$if(mobile !== undefined, (some) => some.where('a.approver_mobile', '=', mobile!))
      const found = await byTime(query, columns, input, call.page).execute()
      const rows = call.pagedByTime(found, ({ id, requested_at }) => ({ key: id, at: requested_at }))
      return rows.map((row) => answered(row, call.caller))
    }
  },
}

// Nobody but the operator withdraws what another key asked.
export const cancelApproval: HandlerOf<typeof approval.cancelApproval> = ({ request_id }, call) => {
  const { caller } = call
  const access = isOperator(caller) ? { orgId: null } : { orgId: caller.orgId, askedBy: namedKeyOf(caller) }
  return withdrawApproval(call, request_id, access)
}
