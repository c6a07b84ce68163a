import type { Times } from './times.ts'

export type EventsTables = {
  /** Addresses to which the events of an organization are sent; `org_id` 0 is the service itself. */
  webhooks: {
    webhook_id: string
    org_id: number
    /** A comma list of types and groups; empty for all. */
    types: string
    /** The address, the secrets that sign, and the organization, which binds the row to it. */
    wrapped: string
    state: 'active' | 'stopped'
    /** The last row of the audit whose event is in the outbox or is not for this webhook. */
    cursor_seq: number
    /** When the first attempt failed after the last delivery, and the error of the last one. */
    failing_since: string | null
    error: string | null
  } & Times
}
