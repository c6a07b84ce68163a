/**
 * The service's own rows, the audit and the outbox. No foreign key to an organization: 0 is the service itself, and these rows
 * outlive their organization.
 */
export const service = `
create table schema_version (
  version integer not null
);

create table nodes (
  id text primary key, address text not null, state text not null, version text not null,
  schema_version integer not null, started_at text not null, seen_at text not null, requests integer not null,
  waiting integer not null, writes_per_second double precision not null, connections integer not null,
  connections_limit integer not null
);

create table settings (
  name text primary key, value text not null
);

create table signing_keys (
  kid text primary key, public_jwk text not null, wrapped_jwk text not null, created_at text not null,
  retired_at text, row_mac text
);

create table audit (
  org_id integer not null, seq integer not null, at text not null, actor text not null, action text not null,
  subject text not null, changes text not null, request_id text not null, prev_hash text not null,
  hash text not null,
  constraint audit_place primary key (org_id, seq)
);
create index audit_at on audit (org_id, at, seq);
create index audit_actor on audit (org_id, actor, at, seq);
create index audit_action on audit (org_id, action, at, seq);
create index audit_subject on audit (org_id, subject, at, seq);
create index audit_rules on audit (org_id, seq) where substr(subject, 1, 6) = 'rules:';

-- The call that deleted the organization of its own key is here, too: a repeat gets the same response.
create table idempotency (
  key_id integer not null, org_id integer, bytes integer not null, idempotency_key text not null,
  fingerprint text not null, answer text not null, created_at text not null, row_mac text,
  constraint idempotency_key_of primary key (key_id, idempotency_key)
);
create index idempotency_created on idempotency (created_at);
create index idempotency_org on idempotency (org_id, created_at, bytes);

create table webhooks (
  webhook_id text primary key, org_id integer not null, types text not null, wrapped text not null,
  state text not null, cursor_seq integer not null, failing_since text, error text, created_at text not null,
  updated_at text not null
);
create index webhooks_org on webhooks (org_id);

create table outbox (
  id integer primary key autoincrement,
  org_id integer not null, message_id text not null, channel text not null, kind text not null,
  recipient text not null, wrapped text, state text not null, attempts integer not null,
  next_at text not null, expires_at text, provider_id text, error text, created_at text not null,
  updated_at text not null
);
create unique index outbox_message on outbox (message_id);
create index outbox_due on outbox (channel, state, next_at);
create index outbox_recipient on outbox (channel, recipient, state);
create index outbox_org on outbox (org_id, id);
create index outbox_at on outbox (created_at, id);
create index outbox_org_at on outbox (org_id, created_at, id);
create index outbox_state on outbox (state, created_at, id);
create index outbox_updated on outbox (updated_at);
`
