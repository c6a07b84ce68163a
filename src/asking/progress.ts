import type { ApprovalRecord } from '../contract/approval.ts'
import type { SvcError } from '../core/errors.ts'

/** What a program that asks shows of a wait. */
export type Progress = {
  requested(record: ApprovalRecord): void
  waiting(record: ApprovalRecord): void
  lost(record: ApprovalRecord, error: SvcError): void
  reconnected(record: ApprovalRecord): void
  decided(record: ApprovalRecord): void
  /** Clears what is redrawn. */
  end(): void
  /** Something that a person should know. */
  warn(text: string): void
}

const nothing = (): void => undefined

/** Nobody reads the output. */
export const silent: Progress = {
  requested: nothing,
  waiting: nothing,
  lost: nothing,
  reconnected: nothing,
  decided: nothing,
  end: nothing,
  warn: nothing,
}
