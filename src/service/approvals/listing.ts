import { expressionBuilder } from 'kysely'
import type { ApprovalRecord } from '../../contract/approval.ts'
import { withdrawnMark } from '../../contract/approval-state.ts'
import type { HandlerOf } from '../call/call.ts'
import { isOperator, namedKeyOf } from '../call/caller.ts'
import { parsePhone } from '../call/input.ts'
import { byTime, endOfReach } from '../call/pagination.ts'
import { reachOrganization, withinOrganization } from '../call/tenant.ts'
import type { Tables } from '../storage/schema.ts'
import { endByRequester } from './consumption.ts'
import { readCurrent, waitForEnd } from './current.ts'
import { sweep } from './expiry.ts'
import { approvalAccess, selectApprovals, toApprovalRecord } from './record.ts'
import { requestApproval } from './request.ts'
import type { ApprovalRow } from './rows.ts'

export const createApproval: HandlerOf<'createApproval'> = requestApproval

/** By the row, which everybody who waited for it together has, and by whether it is their own. */
const records = new WeakMap<ApprovalRow, Map<boolean, ApprovalRecord>>()

const sharedRecord = (row: ApprovalRow, call: Parameters<typeof toApprovalRecord>[1]): ApprovalRecord => {
  const known = records.get(row) ?? new Map<boolean, ApprovalRecord>()
  const isOwn = row.asked_by === namedKeyOf(call.caller)
  const record = known.get(isOwn) ?? toApprovalRecord(row, call)
  records.set(row, known.set(isOwn, record))
  return record
}

export const getApproval: HandlerOf<'getApproval'> = {
  before: async ({ request_id, wait_s: seconds }, { service, caller, signal }) => {
    const access = approvalAccess(caller)
    const row =
      seconds === undefined
        ? await readCurrent(service, request_id, access)
        : await waitForEnd(service, request_id, access, { seconds, signal: signal?.(), answers: true })
    return async () => sharedRecord(row, { caller, keyring: service.keyring })
  },
}

/** True of a request that asks whoever had this number then. */
const isAsked = (mobile: string) => {
  const { exists, selectFrom } = expressionBuilder<Tables & { a: Tables['approvals'] }, 'a'>()
  return exists(
    selectFrom('ballots as b')
      .whereRef('b.request_id', '=', 'a.request_id')
      .whereRef('b.org_id', '=', 'a.org_id')
      .where('b.mobile', '=', mobile)
      .select('b.id'),
  )
}

const columns = { key: 'a.id', at: 'a.requested_at' }

export const listApprovals: HandlerOf<'listApprovals'> = {
  before: async (input, { service }) => {
    const { org_id, status, approver_mobile } = input
    const mobile = approver_mobile && parsePhone(approver_mobile, undefined, 'approver_mobile').mobile
    await sweep(service)
    return async (call) => {
      const { caller } = call
      if (org_id !== undefined) await reachOrganization(call, org_id)
      const access = { ...approvalAccess(caller), orgId: org_id ?? caller.orgId }
      const all = call.db.selectFrom('approvals as a').where(withinOrganization(access.orgId, 'a.org_id'))
      const filters = [status, mobile, access.askedBy].filter((one) => one !== undefined)
      const onlyWithdrawn = status === withdrawnMark
      // There is an index for the state.
      const isIndexed =
        filters.length === 0 || (filters.length === 1 && status !== undefined && !onlyWithdrawn)
      const end = isIndexed ? undefined : await endOfReach(all, columns, input, call.page)
      const query = selectApprovals(call.db, access)
        .$if(status !== undefined, (some) =>
          some.where('a.status', '=', status === withdrawnMark ? 'expired' : status!),
        )
        .$if(onlyWithdrawn, (some) => some.where('a.detail', 'like', `${withdrawnMark} %`))
        .$if(mobile !== undefined, (some) => some.where(isAsked(mobile!)))
      const found = await byTime(query, columns, input, call.page, end).execute()
      const rows = call.pagedByTime(found, ({ id, requested_at }) => ({ key: id, at: requested_at }), end)
      return rows.map((row) => toApprovalRecord(row, call))
    }
  },
}

/** A key withdraws its own requests. Only the operator withdraws those of other keys. */
export const withdrawApproval: HandlerOf<'withdrawApproval'> = ({ request_id }, call) => {
  const { caller } = call
  const access = isOperator(caller) ? { orgId: null } : { orgId: caller.orgId, askedBy: namedKeyOf(caller) }
  return endByRequester(call, request_id, access)
}
