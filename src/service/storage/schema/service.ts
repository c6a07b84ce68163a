import type { deliveryChannels } from '../../../contract/records.ts'
import { each, free, id, integer, orNull, real, text, textOf, wrapped } from './columns.ts'
import { sealed, table } from './table.ts'

/** A node that has not reported for this long, which is three reports, is lost. */
export const lostAfterS = 15

/**
 * The service's own rows, the audit and the outbox. No foreign key to an organization: 0 is the service itself, and these rows
 * outlive their organization.
 */
export const service = {
  /** The number of migrations that the store has seen, in one row. */
  schema_version: table({ version: integer }, { key: ['version'], isOfStore: true }),
  /** The processes that use the store, as each last reported itself. Of a store that several processes share. */
  nodes: table(
    {
      id: text,
      /** Host and port. */
      address: text,
      state: textOf<'serving' | 'stopping'>(),
      /** Of svc. */
      version: text,
      /** The newest schema that it knows. */
      schema_version: integer,
      ...each(text, 'started_at', 'seen_at'),
      /** Requests in progress, and callers that wait for a decision. */
      ...each(integer, 'requests', 'waiting'),
      writes_per_second: real,
      /** Connections to the database that are in use, and the most that it opens. */
      ...each(integer, 'connections', 'connections_limit'),
    },
    { isOfStore: true },
  ),
  /** Values that the service keeps across restarts. */
  settings: table({ name: text, value: text }, { key: ['name'] }),
  /** The service's own keys. */
  signing_keys: sealed(
    {
      ...each(text, 'kid', 'public_jwk', 'created_at'),
      wrapped_jwk: wrapped('kid'),
      retired_at: orNull(text),
    },
    { key: ['kid'] },
  ),
  /**
   * One hash chain an organization; see `ChainRow`. `changes` is JSON. The hash is of the other columns, so the MAC leaves them out.
   */
  audit: sealed(
    {
      ...each(integer, 'org_id', 'seq'),
      at: text,
      ...each(free(text), 'actor', 'action', 'subject', 'changes', 'request_id'),
      /** Changes of the rules and groups of the organization so far, as `rule_heads.counter`. */
      rules: integer,
      /** The highest ids of which the audit says something so far: they are not given again. */
      ...each(integer, 'newest_key', 'newest_user', 'newest_device'),
      prev_hash: free(text),
      hash: text,
    },
    {
      key: ['org_id', 'seq'],
      indexes: {
        at: '(org_id, at, seq)',
        actor: '(org_id, actor, at, seq)',
        action: '(org_id, action, at, seq)',
        subject: '(org_id, subject, at, seq)',
      },
    },
  ),
  /**
   * Stored responses for repeats of an `Idempotency-Key`, without secrets. The call that deleted the organization of its own key
   * is here, too: a repeat gets the same response.
   */
  idempotency: sealed(
    {
      key_id: integer,
      /** The organization whose quota it uses; null for operator keys and callers without a key. */
      org_id: orNull(integer),
      bytes: free(integer),
      ...each(text, 'idempotency_key', 'fingerprint', 'answer', 'created_at'),
    },
    {
      key: ['key_id', 'idempotency_key'],
      indexes: { created: '(created_at)', org: '(org_id, created_at, bytes)' },
    },
  ),
  /** Addresses to which the events of an organization are sent; `org_id` 0 is the service itself. */
  webhooks: table(
    {
      webhook_id: text,
      org_id: integer,
      /** A comma list of types and groups; empty for all. */
      types: text,
      /** The address, the secrets that sign, and the organization, which binds the row to it. */
      wrapped: wrapped('webhook_id'),
      state: textOf<'active' | 'stopped'>(),
      /** The last row of the audit whose event is in the outbox or is not for this webhook. */
      cursor_seq: integer,
      /** When the first attempt failed after the last delivery, and the error of the last one. */
      ...each(orNull(text), 'failing_since', 'error'),
      ...each(text, 'created_at', 'updated_at'),
    },
    { key: ['webhook_id'], indexes: { org: '(org_id)' } },
  ),
  /** Messages and their delivery state. `wrapped` contains the message and is erased in the final state. */
  outbox: table(
    {
      id,
      org_id: integer,
      message_id: text,
      channel: textOf<(typeof deliveryChannels)[number]>(),
      kind: text,
      /** The recipient, shortened for display. */
      recipient: text,
      wrapped: orNull(wrapped('message_id')),
      state: textOf<'queued' | 'sending' | 'sent' | 'failed' | 'dead'>(),
      attempts: integer,
      /** When it is due; while it is being sent, when it is due again if no result arrives. */
      next_at: text,
      ...each(orNull(text), 'expires_at', 'provider_id', 'error'),
      ...each(text, 'created_at', 'updated_at'),
    },
    {
      indexes: {
        message: 'unique (message_id)',
        due: '(channel, state, next_at)',
        recipient: '(channel, recipient, state)',
        org: '(org_id, id)',
        at: '(created_at, id)',
        org_at: '(org_id, created_at, id)',
        state: '(state, created_at, id)',
        updated: '(updated_at)',
      },
    },
  ),
}
