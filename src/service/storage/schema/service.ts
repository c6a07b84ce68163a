import type { deliveryChannels } from '../../../contract/records.ts'
import type { ChainRow } from '../../../receipt/chain.ts'
import type { With } from './columns.ts'

/** A node that has not reported for this long, which is three reports, is lost. */
export const lostAfterS = 15

export type ServiceTables = {
  /** The number of migrations that the store has seen, in one row. */
  schema_version: { version: number }
  /** The processes that use the store, as each last reported itself. Of a store that several processes share. */
  nodes: {
    id: string
    /** Host and port. */
    address: string
    state: 'serving' | 'stopping'
    /** Of svc. */
    version: string
    /** The newest schema that it knows. */
    schema_version: number
    started_at: string
    seen_at: string
    /** Requests in progress, and callers that wait for a decision. */
    requests: number
    waiting: number
    writes_per_second: number
    /** Connections to the database that are in use, and the most that it opens. */
    connections: number
    connections_limit: number
  }
  /** Values that the service keeps across restarts. */
  settings: { name: string; value: string }
  /** The service's own keys; the private half is wrapped by the master key. */
  signing_keys: {
    kid: string
    public_jwk: string
    wrapped_jwk: string
    retired_at: string | null
  } & With<'created_at' | 'row_mac'>
  /** One hash chain an organization; `org_id` 0 is the service itself. */
  audit: Omit<ChainRow, 'changes'> & { changes: string }
  /** Stored responses for repeats of an `Idempotency-Key`, without secrets. */
  idempotency: {
    key_id: number
    /** The organization whose quota it uses; null for operator keys and callers without a key. */
    org_id: number | null
    bytes: number
    idempotency_key: string
    fingerprint: string
    answer: string
  } & With<'created_at' | 'row_mac'>
  /** Addresses to which the events of an organization are sent; `org_id` 0 is the service itself. */
  webhooks: {
    webhook_id: string
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
  } & With<'org_id' | 'created_at' | 'updated_at'>
  /** Messages and their delivery state. `wrapped` contains the message and is erased in the final state. */
  outbox: {
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
  } & With<'id' | 'org_id' | 'created_at' | 'updated_at'>
}
