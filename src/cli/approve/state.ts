import type { ApprovalRecord, ApprovalState } from '../../contract/approval.ts'
import { exitCode, type Exit } from '../../core/exit-codes.ts'

const exitOf: Record<ApprovalState, Exit> = {
  approved: 'done',
  denied: 'denied',
  expired: 'expired',
  pending: 'pending',
}

/** A state that we do not know approves nothing. */
export const exitOfState = (status: string): Exit =>
  Object.hasOwn(exitOf, status) ? exitOf[status as ApprovalState] : 'failed'

const worst: Exit[] = ['failed', 'denied', 'expired', 'pending', 'done']

/** The exit code of several waits: a no weighs more than a silence, and a silence more than no answer yet. */
export const exitOfAll = (records: readonly ApprovalRecord[]): number =>
  exitCode(worst.find((exit) => records.some(({ status }) => exitOfState(status) === exit)) ?? 'done')
