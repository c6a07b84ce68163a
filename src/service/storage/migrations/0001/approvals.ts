/**
 * Devices and approvals. `devices`, `approvals`, `verifications` and `mutes` outlive a membership: a person who is deleted and
 * created again keeps them.
 */
export const approvals = `
create table enrollments (
  id integer primary key autoincrement,
  org_id integer not null, user_id integer not null, token_hash text not null, user_handle text not null,
  expires_at text not null, used_at text, created_by integer, added_by integer, row_mac text,
  constraint of_member foreign key (org_id, user_id) references memberships (org_id, user_id) on delete cascade
);
create unique index enrollments_token on enrollments (token_hash);
create index enrollments_member on enrollments (org_id, user_id);

create table devices (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade, user_id integer not null,
  name text not null, kind text not null, credential_id text not null, public_key text not null,
  algorithm integer not null, user_handle text not null, counter integer not null, state text not null,
  proof text not null, bound_at text, approved_at text, active_from text, enrolled_by integer,
  added_by integer, approved_by integer, approved_by_key integer, aaguid text, backup_eligible integer,
  attestation_format text, backed_up integer, attachment text, registered_at text not null, last_used_at text,
  revoked_at text, row_mac text
);
create unique index devices_credential on devices (credential_id);
create index devices_member on devices (org_id, user_id);
create index devices_enrolled_by on devices (enrolled_by);
create index devices_added_by on devices (added_by);
create index devices_approved_by on devices (approved_by);
create index devices_pending on devices (active_from) where state = 'pending';

create table approver_sessions (
  id integer primary key autoincrement,
  device_id integer not null references devices (id) on delete cascade, token_hash text not null,
  created_at text not null, last_seen_at text not null, expires_at text not null
);
create unique index approver_sessions_token on approver_sessions (token_hash);
create index approver_sessions_device on approver_sessions (device_id);

create table spent_challenges (
  hash text primary key, expires_at text not null
);

create table device_push (
  device_id integer not null references devices (id) on delete cascade, session_id integer not null,
  endpoint_hash text not null, wrapped text not null, created_at text not null,
  constraint device_push_key primary key (device_id, endpoint_hash)
);

-- No foreign key to a key: the bearer token of the tool server has the id 0, which is not in the store.
create table approvals (
  id integer primary key autoincrement,
  request_id text not null, org_id integer not null references organizations (id) on delete cascade,
  key_id integer not null, asked_by integer not null, requester text not null,
  verified_as text not null, action text not null, reason text, approver_mobile text not null,
  lines text not null, rules text not null, excluded text not null, answers text,
  factors text not null, unchecked_factors text, number text,
  status text not null default 'pending', detail text, note text,
  subject_type text not null, subject_data text, subject_digest text not null, key_name text not null,
  key_scopes text not null, key_influences integer not null, key_owner text, by_rule integer not null,
  org_slug text not null, asked_from text, asked_via text not null, decided_by integer, attestation text,
  ruling text, use_within_s integer not null, use_by text, used_at text,
  requested_at text not null, expires_at text not null, remind_at text, decided_at text, ended_at text,
  erased_at text, cleared_at text, receipt_digest text, break_glass text, grant_terms text, granted_until text,
  granted_by text, grant_use integer, row_mac text
);
create unique index approvals_request on approvals (request_id);
create unique index approvals_grant_use on approvals (granted_by, grant_use) where granted_by is not null;
create index approvals_due on approvals (status, expires_at);
create index approvals_remind on approvals (remind_at) where status = 'pending';
create index approvals_ended on approvals (ended_at);
create index approvals_broken_glass on approvals (org_id, requested_at) where break_glass is not null;
create index approvals_kept on approvals (cleared_at, ended_at);
create index approvals_at on approvals (requested_at, id);
create index approvals_org_id on approvals (org_id, id);
create index approvals_org_at on approvals (org_id, requested_at, id);
create index approvals_denied on approvals (org_id, subject_digest, id) where status = 'denied';
create index approvals_org_status on approvals (org_id, status, requested_at, id);

create table ballots (
  id integer primary key autoincrement,
  request_id text not null references approvals (request_id) on delete cascade, org_id integer not null,
  user_id integer not null, mobile text not null, name text not null, twin integer not null,
  nonce text not null, number_tries integer not null default 0, status text not null default 'pending',
  decided_at text, device_id integer, attestation text, decision_digest text, requested_at text not null,
  first_asked_by integer, row_mac text
);
create unique index ballots_person on ballots (request_id, user_id);
create index ballots_first on ballots (org_id, first_asked_by, user_id) where first_asked_by is not null;
create index ballots_history on ballots (org_id, user_id, requested_at, id);

create table batch_rows (
  id integer primary key autoincrement,
  request_id text not null references approvals (request_id) on delete cascade, org_id integer not null,
  row_index integer not null, data text not null, digest text not null, used_at text, row_mac text
);
create unique index batch_rows_index on batch_rows (request_id, row_index);

create table verifications (
  id integer primary key autoincrement,
  request_id text not null, org_id integer not null references organizations (id) on delete cascade,
  user_id integer not null, key_id integer not null, kind text not null, token_hash text,
  created_at text not null, expires_at text not null, spent_at text, outcome text, source text, row_mac text
);
create unique index verifications_request on verifications (request_id);
create unique index verifications_token on verifications (token_hash);
create index verifications_member on verifications (user_id, org_id, id);
create index verifications_created on verifications (created_at);

create table mutes (
  org_id integer not null references organizations (id) on delete cascade, user_id integer not null,
  key_id integer not null, agent text not null, until text not null,
  constraint mute_of primary key (org_id, user_id, key_id, agent)
);
`
