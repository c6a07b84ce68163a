import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import type { AskingDefaults } from '../../contract/asking-defaults.ts'
import type { Caller } from '../call/caller.ts'
import type { SharedRequests } from './shared-requests.ts'

/** Whom the tools of one caller ask through, and what holds where a call says nothing. */
export type ToolContext = {
  gateway: ApprovalGateway
  defaults: AskingDefaults
  shared: SharedRequests
  /** Identifies the caller among all that use `shared`: only its own calls share a request. */
  caller: string
}

/** What one call has besides its arguments. */
export type Conversation = {
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal
  /** Why nobody waits, once the signal is aborted. */
  whyEnded(): string
  /** The name that the client gives itself. */
  client?: string
  /** Present when the client takes progress. */
  tell?(message: string, progress: number, total: number): Promise<void>
}

/** One POST to /mcp, its body read and its caller known. */
export type ToolRequest = {
  body: unknown
  caller: Caller
  toolContext: ToolContext
  report(error: Error): void
}
