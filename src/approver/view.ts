import type { PendingRequest } from './feed.ts'

/** The screen that is shown now. */
export type View = {
  /** What is pending has changed. */
  update?: (requests: readonly PendingRequest[]) => void
  /** Another screen follows. */
  leave?: () => void
}
