import type { ApprovalRecord } from './approval.ts'
import type { factors } from './records.ts'
import type { subjectTypes } from './subject.ts'

/** What somebody asks of a person. */
export type Ask = {
  action: string
  /** What exactly is asked; without it, the action is all there is. */
  subject?:
    | { type: (typeof subjectTypes)[number]; data: Record<string, unknown>; digest?: string }
    | undefined
  reason?: string | undefined
  approver_mobile: string
  factors?: (typeof factors)[number][] | undefined
  /** How long it can be decided, seconds. */
  lifetime_s?: number | undefined
  requester?: string | undefined
  /** The approver must type a number that only the requester sees; where the other side cannot, it is refused. */
  number?: boolean
  /** Needed where the key is of no organization. */
  org_id?: number | undefined
}

/**
 * How the tools reach a person: the engine in this process, our REST API, another service of the contract, or the
 * demo. Each call fails with an SvcError or a Refusal whose message is fit for the one who asked.
 */
export type ApprovalGateway = {
  request(ask: Ask): Promise<ApprovalRecord>
  status(request_id: string): Promise<ApprovalRecord>
  /** Answers when it is decided or has expired, or as it is after `seconds`. */
  wait(request_id: string, seconds: number, signal?: AbortSignal): Promise<ApprovalRecord>
  /** Withdraws a pending request, so that no prompt stays live. `why` is recorded where the gateway is the engine. */
  cancel(request_id: string, why?: string): Promise<void>
  /** Uses an approval, which works once; absent where the other side has no such thing. */
  consume?: ((request_id: string, digest: string) => Promise<void>) | undefined
  /** Whether the person saw and signed this very action. */
  boundToAction: boolean
  /** Stands in every answer when it is not the real thing: the demo. */
  notice?: string | undefined
}
