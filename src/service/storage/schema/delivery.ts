import type { Generated } from 'kysely'
import type { Times } from './times.ts'

export type DeliveryTables = {
  /** What is to be sent, and what became of it. `wrapped` holds the message and is erased at the last state. */
  outbox: {
    id: Generated<number>
    org_id: number
    message_id: string
    channel: 'email' | 'sms' | 'push'
    kind: string
    /** So much of the recipient as may be shown. */
    recipient: string
    wrapped: string | null
    state: 'queued' | 'sending' | 'sent' | 'failed' | 'dead'
    attempts: number
    /** When it is due; of one that is being sent: when it is due again unless it is told otherwise. */
    next_at: string
    expires_at: string | null
    provider_id: string | null
    error: string | null
  } & Times
}
