import type { Generated } from 'kysely'
import type { deliveryChannels } from '../../../contract/records.ts'
import type { Times } from './times.ts'

export type DeliveryTables = {
  /** Messages and their delivery state. `wrapped` contains the message and is erased in the final state. */
  outbox: {
    id: Generated<number>
    org_id: number
    message_id: string
    channel: (typeof deliveryChannels)[number]
    kind: string
    /** The recipient, shortened for display. */
    recipient: string
    wrapped: string | null
    state: 'queued' | 'sending' | 'sent' | 'failed' | 'dead'
    attempts: number
    /** When it is due; while it is being sent, when it is due again if no result arrives. */
    next_at: string
    expires_at: string | null
    provider_id: string | null
    error: string | null
  } & Times
}
