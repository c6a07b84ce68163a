import type { approval } from '../../contract/approval.ts'
import { cancelApproval } from '../approvals/cancellation.ts'
import { sweep } from '../approvals/expiry.ts'
import { answered, selectApprovals } from '../approvals/record.ts'
import { requestApproval } from '../approvals/request.ts'
import { awaitEnd, readSettled } from '../approvals/waiter.ts'
import type { Handlers } from '../call.ts'
import { parsePhone } from '../phone.ts'
import { inPage } from './page.ts'
import { reachOrganization } from './tenant.ts'

export const approvalHandlers: Handlers<typeof approval> = {
  createApproval: requestApproval,

  getApproval: {
    before: async ({ request_id, wait_s }, outside) => {
      const { service, caller } = outside
      const reach = { orgId: caller.orgId }
      const row =
        wait_s === undefined
          ? await readSettled(service, request_id, reach)
          : await awaitEnd(service, request_id, reach, { seconds: wait_s, signal: outside.signal })
      return async (call) => answered(row, call.caller)
    },
  },

  listApprovals: {
    before: async (input, { service }) => {
      const mobile =
        input.approver_mobile && parsePhone(input.approver_mobile, undefined, 'approver_mobile').mobile
      await sweep(service)
      return async (call) => {
        const { org_id, status } = input
        if (org_id !== undefined) await reachOrganization(call, org_id)
        const query = selectApprovals(call.db, { orgId: org_id ?? call.caller.orgId })
          .$if(status !== undefined, (some) => some.where('a.status', '=', status!))
          .$if(mobile !== undefined, (some) => some.where('a.approver_mobile', '=', mobile!))
        const rows = call.paged(await inPage(query, 'a.id', call.page).execute(), (row) => row.id)
        return rows.map((row) => answered(row, call.caller))
      }
    },
  },

  cancelApproval: ({ request_id }, call) => cancelApproval(call, request_id, { orgId: call.caller.orgId }),
}
