import type { PendingRequest } from '../calls/feed.ts'

/** The screen that is shown now. */
export type View = {
  /** The pending requests have changed. */
  update?: (requests: readonly PendingRequest[]) => void
  /** Whether it shows by itself that requests have arrived. */
  announces?: () => boolean
  /** Another screen follows. */
  leave?: () => void
}
