/** Accounts of apps. No foreign key to an organization: 0 is the service itself, as in the audit. */
export const mobile = `
create table registrations (
  id integer primary key autoincrement,
  org_id integer not null, user_id integer not null references people (id) on delete cascade,
  token_hash text not null, profile text not null, created_at text not null, expires_at text not null
);
create index registrations_user on registrations (user_id, org_id);

create table mobile_accounts (
  id integer primary key autoincrement,
  org_id integer not null, user_id integer not null references people (id) on delete cascade,
  first_name text not null, last_name text not null, email text, email_verified_at text,
  email_changed_at text, device_id text, imei text, platform text, device_name text, created_at text not null,
  updated_at text not null
);
create unique index mobile_accounts_user on mobile_accounts (user_id, org_id);

create table otps (
  org_id integer not null, mobile text not null, salt text not null, wrapped_hash text not null,
  expires_at text not null, used_at text,
  constraint otp_of primary key (org_id, mobile)
);

create table turns (
  org_id integer not null, kind text not null, subject text not null, slot integer not null, at text not null,
  until text not null,
  constraint turn_of primary key (org_id, kind, subject, slot)
);
create index turns_until on turns (until);

create table token_families (
  family text primary key, org_id integer not null,
  user_id integer not null references people (id) on delete cascade, created_at text not null, ended_at text
);
create index token_families_user on token_families (user_id);

create table refresh_tokens (
  id integer primary key autoincrement,
  family text not null references token_families (family) on delete cascade, org_id integer not null,
  user_id integer not null, token_hash text not null, created_at text not null, expires_at text not null,
  spent_at text, row_mac text
);
create unique index refresh_tokens_token on refresh_tokens (token_hash);
create index refresh_tokens_family on refresh_tokens (family);

create table email_verifications (
  id integer primary key autoincrement,
  org_id integer not null, user_id integer not null references people (id) on delete cascade,
  email text not null, token_hash text not null, created_at text not null, expires_at text not null,
  used_at text, row_mac text
);
create unique index email_verifications_token on email_verifications (token_hash);
create index email_verifications_user on email_verifications (user_id);
`
