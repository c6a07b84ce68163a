import type { ApprovalRecord } from './approval.ts'
import type { factors } from './records.ts'
import type { subjectTypes } from './subject.ts'

/** A request for an approval. */
export type Ask = {
  action: string
  /** What exactly to approve; without it, only the action. */
  subject?:
    | { type: (typeof subjectTypes)[number]; data: Record<string, unknown>; digest?: string }
    | undefined
  reason?: string | undefined
  /** Who must agree; see `approvers.ts`. Without it, only those whom rules of the organization ask. */
  approvers?: string[] | undefined
  factors?: (typeof factors)[number][] | undefined
  /** Checked where there is something to check them against, if `factors` is absent. */
  default_factors?: (typeof factors)[number][] | undefined
  /** Seconds until the request expires. */
  lifetime_s?: number | undefined
  requester?: string | undefined
  /** An emergency, and why. Only a signed-in person can claim one. */
  break_glass?: string | undefined
  /** The approver must type a number that only the requester sees; a gateway that cannot require it refuses. */
  number?: boolean
  /** Required if the key belongs to no organization. */
  org_id?: number | undefined
}

/**
 * How the tools reach a person: the engine in this process, our REST API, a third-party service, or the demo. Each call
 * throws an SvcError or a Refusal whose message is safe to show to the requester.
 */
export type ApprovalGateway = {
  request(ask: Ask): Promise<ApprovalRecord>
  status(request_id: string): Promise<ApprovalRecord>
  /** Returns when the request is decided or has expired, or its state after `seconds`. */
  wait(request_id: string, seconds: number, signal?: AbortSignal): Promise<ApprovalRecord>
  /** Withdraws a pending request, so that no prompt stays open. The engine records `why`. */
  withdraw(request_id: string, why?: string): Promise<void>
  /** Uses an approval, which works once; absent if the service does not support it. */
  consume?: ((request_id: string, digest: string) => Promise<void>) | undefined
  /** Whether the person saw and signed exactly this action. */
  boundToAction: boolean
  /** A notice for every answer, if nobody is really asked: the demo. */
  notice?: string | undefined
}
