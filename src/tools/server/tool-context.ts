import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import type { AskingDefaults } from '../../contract/asking-defaults.ts'
import type { SharedRequests } from './shared-requests.ts'

/** What the tools of one caller use: the gateway for approvals, and defaults for fields that a call leaves out. */
export type ToolContext = {
  gateway: ApprovalGateway
  defaults: AskingDefaults
  shared: SharedRequests
  /** Identifies the caller among all that use `shared`: only its own calls share a request. */
  caller: string
}

/** What a call has in addition to its arguments. */
export type Conversation = {
  /** Aborted when the client no longer waits for the answer. */
  signal: AbortSignal
  /** Why the client no longer waits, once the signal is aborted. */
  endReason(): string
  /** The name that the client claims. */
  client?: string
  /** Present if the client accepts progress. */
  reportProgress?(message: string, progress: number, total: number): Promise<void>
}

/** One of the tools. */
export type Run<I, O> = (input: I, toolContext: ToolContext, conversation: Conversation) => Promise<O>
