import type { Asker, Ask } from '../../contract/asker.ts'

/** Whom the tools of one caller ask through, and what holds where a call says nothing. */
export type Desk = {
  asker: Asker
  defaults: { approver_mobile?: string; factors?: Ask['factors']; requester?: string }
}

/** What one call has besides its arguments. */
export type Conversation = {
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal
  /** Who calls, as it says itself. */
  client?: string
  /** Present when the caller wants to hear of the progress. */
  tell?(message: string, progress: number, total: number): Promise<void>
}
