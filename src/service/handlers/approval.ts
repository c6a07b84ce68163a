import type { approval } from '../../contract/approval.ts'
import { consumeApproval } from '../approvals/consumption.ts'
import { cancelApproval, createApproval, getApproval, listApprovals } from '../approvals/listing.ts'
import type { Handlers } from '../call/call.ts'

export const approvalHandlers: Handlers<typeof approval> = {
  createApproval,
  getApproval,
  listApprovals,
  cancelApproval,

  consumeApproval,
}
