/** Organizations, their people, keys and rules. */
export const organizations = `
create table organizations (
  id integer primary key autoincrement,
  name text not null, slug text not null, policy text not null, created_at text not null,
  updated_at text not null, row_mac text
);
create unique index organizations_slug on organizations (slug);

create table organization_limits (
  org_id integer not null references organizations (id) on delete cascade, name text not null,
  value text not null,
  constraint limit_of primary key (org_id, name)
);

create table people (
  id integer primary key autoincrement,
  mobile text not null, national text not null, country_code text not null, created_at text not null,
  row_mac text
);
create unique index people_mobile on people (mobile);

create table erased_people (
  user_id integer primary key, mobile_mac text not null unique
);

create table memberships (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  user_id integer not null references people (id), email text not null, first_name text not null,
  last_name text not null, look_alike text not null, role text not null, state text not null,
  promoted_at text, admin_from text, created_at text not null, updated_at text not null
);
create unique index memberships_org_user on memberships (org_id, user_id);
create index memberships_user on memberships (user_id);
create index memberships_org_state on memberships (org_id, state);
create index memberships_org_email on memberships (org_id, email);
create index memberships_look_alike on memberships (org_id, look_alike);

-- A row outlives its membership: the devices that the administrator added or approved still refer to it.
create table appointments (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade, user_id integer not null,
  by_key integer, by_device integer, appointed_at text not null, row_mac text
);
create unique index appointments_of_member on appointments (org_id, user_id);

create table absences (
  id integer primary key autoincrement,
  org_id integer not null, user_id integer not null, starts_at text not null, ends_at text not null, row_mac text,
  constraint absence_of_member foreign key (org_id, user_id) references memberships (org_id, user_id) on delete cascade
);
create unique index absences_of_member on absences (org_id, user_id);

create table auth_codes (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade, label text not null,
  code_hash text not null, hint text not null, uses_left integer, expires_at text, created_at text not null,
  updated_at text not null
);
create unique index auth_codes_hash on auth_codes (code_hash);
create index auth_codes_org on auth_codes (org_id);

create table api_keys (
  id integer primary key autoincrement,
  name text not null, org_id integer references organizations (id) on delete cascade, prefix text not null,
  hash text not null, wrapped_hash text not null, lineage integer, replaced integer not null default 0,
  scopes text not null, created_by integer, owner_user_id integer, owner_confirmed_at text,
  owner_left_at text, audience text, client_id text, client_name text, code_hash text, consented_with integer, created_at text not null, last_used_at text,
  expires_at text, revoked_at text
);
create unique index api_keys_prefix on api_keys (prefix);
create index api_keys_org on api_keys (org_id);
create index api_keys_owner on api_keys (owner_user_id, org_id);
create index api_keys_created_by on api_keys (created_by);
create index api_keys_consented_with on api_keys (consented_with);
create unique index api_keys_code_hash on api_keys (code_hash) where code_hash is not null;

create table oauth_clients (
  id text primary key, metadata text not null, created_at text not null, expires_at text not null,
  used_at text
);
create index oauth_clients_expiry on oauth_clients (expires_at);

create table device_codes (
  code_hash text primary key, device_hash text not null, request text not null, answer text, expires_at text not null
);
create unique index device_codes_device on device_codes (device_hash);
create index device_codes_expiry on device_codes (expires_at);

create table idp_credentials (
  org_id integer primary key references organizations (id) on delete cascade, provider text not null,
  client_id text not null, wrapped_secret text not null, updated_at text not null
);

create table geofences (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade, name text not null,
  latitude double precision not null, longitude double precision not null, radius integer not null,
  is_active integer not null, created_at text not null, updated_at text not null
);
create index geofences_org on geofences (org_id);

create table user_geofences (
  id integer primary key autoincrement,
  org_id integer not null, user_id integer not null, name text not null, latitude double precision not null,
  longitude double precision not null, radius integer not null, enabled integer not null,
  constraint of_member foreign key (org_id, user_id) references memberships (org_id, user_id) on delete cascade
);
create index user_geofences_member on user_geofences (org_id, user_id);

create table timeslots (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade, name text not null,
  days text not null, "start" text not null, "end" text not null, timezone text not null,
  is_active integer not null, created_at text not null, updated_at text not null
);
create index timeslots_org on timeslots (org_id);

create table user_timeslots (
  id integer primary key autoincrement,
  org_id integer not null, user_id integer not null, name text not null, days text not null,
  "start" text not null, "end" text not null, timezone text not null, is_active integer not null,
  constraint of_member foreign key (org_id, user_id) references memberships (org_id, user_id) on delete cascade
);
create index user_timeslots_member on user_timeslots (org_id, user_id);

-- The name of a deleted group is never used again. "members" is JSON, so that the MAC of a row covers who is in it.
create table groups (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade, name text not null,
  members text not null, created_at text not null, deleted_at text, row_mac text
);
create unique index groups_name on groups (org_id, name);

create table rule_heads (
  org_id integer primary key references organizations (id) on delete cascade,
  counter integer not null, digest text not null, rules text not null, grants text not null,
  audit_seq integer not null, audit_hash text not null, row_mac text
);

create table machines (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade, machine_id text not null,
  machine_name text not null, stock_name text not null, stock_symbol text, stock_title text,
  total_price text not null, current_stock_price text not null, mobile text not null,
  created_at text not null, updated_at text not null
);
create unique index machines_machine on machines (org_id, machine_id);
`
