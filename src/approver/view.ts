import type { Asked } from './feed.ts'

/** The screen that is shown now. */
export type View = {
  /** What is pending has changed. */
  update?: (requests: readonly Asked[]) => void
  /** Another screen follows. */
  leave?: () => void
}
