import { approvalStates } from '../contract/approval-state.ts'
import type { ApprovalRecord } from '../contract/approval.ts'
import { SvcError } from '../core/errors.ts'
import type { Exit } from '../core/exit-codes.ts'
import type { Backend } from './backend.ts'

// How a request ends without an approval.

/** An unknown state is never an approval. */
export const exitOfState = (status: string): Exit => {
  const state = approvalStates.find((one) => one === status) ?? 'failed'
  return state === 'approved' ? 'done' : state
}

/** A request that ended, or that nobody waits for any more, without an approval. */
export class NotApproved extends SvcError {
  readonly record: ApprovalRecord

  /** `nothing` says what did not happen: `nothing was run`. */
  constructor(record: ApprovalRecord, nothing: string) {
    const { status, detail } = record
    super(exitOfState(status), status, `Not approved (${status}): ${nothing}`, {
      detail: detail ?? undefined,
    })
    this.record = record
  }
}

export const interrupted = (nothing: string): SvcError =>
  new SvcError('interrupted', 'interrupted', `Interrupted; ${nothing}`)

/** Says about a request whose answer was lost that the approver may have been notified, and how to check. */
export const maybeNotified = (error: unknown, { tools, flags }: Pick<Backend, 'tools' | 'flags'>): unknown =>
  error instanceof SvcError && ['connection_cut', 'timed_out'].includes(error.code)
    ? error.with({
        detail: 'The approver may have been notified anyway. svc does not repeat the request.',
        hint: tools ? undefined : `svc approve list --status pending${flags}`,
      })
    : error
