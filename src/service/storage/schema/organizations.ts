import {
  each,
  flag,
  free,
  id,
  integer,
  member,
  orgId,
  orNull,
  real,
  text,
  textOf,
  withDefault,
  wrapped,
} from './columns.ts'
import { sealed, table } from './table.ts'

const changed = each(text, 'created_at', 'updated_at')
const slot = {
  name: text,
  /** A comma list of weekdays. */
  days: text,
  ...each(text, 'start', 'end', 'timezone'),
  is_active: flag,
}
const circle = { name: text, latitude: real, longitude: real, radius: integer }

/** Organizations, their people, keys and rules. */
export const organizations = {
  // Receipts name the organization by both its id and its slug.
  organizations: sealed(
    {
      id,
      slug: text,
      ...each(free(text), 'name', 'policy', 'created_at', 'updated_at'),
    },
    { indexes: { slug: 'unique (slug)' } },
  ),
  /** Limits that the operator set for an organization; `value` is JSON. */
  organization_limits: table({ ...orgId, name: text, value: text }, { key: ['org_id', 'name'] }),
  /** `mobile` is E.164; `national` reads as the same number under `country_code`. */
  people: sealed(
    { id, ...each(text, 'mobile', 'national', 'country_code'), created_at: free(text) },
    { indexes: { mobile: 'unique (mobile)' } },
  ),
  /** Deleted people whose history counts: the same number gets the same id again. Stores a MAC, not the number. */
  erased_people: sealed(
    { user_id: integer, mobile_mac: text },
    { key: ['user_id'], indexes: { mobile: 'unique (mobile_mac)' } },
  ),
  /** A person (`user_id`) in an organization. */
  memberships: table(
    {
      id,
      ...orgId,
      user_id: { ...integer, sql: `${integer.sql} references people (id)` },
      ...each(text, 'email', 'first_name', 'last_name'),
      /** Equal for names that look alike. */
      look_alike: text,
      role: textOf<'operator' | 'admin' | 'member'>(),
      state: textOf<'pending' | 'active' | 'rejected' | 'removed'>(),
      held_at: orNull(text),
      /** The period in which a new administrator cannot approve recoveries; null if there is none. */
      ...each(orNull(text), 'promoted_at', 'admin_from'),
      ...changed,
    },
    {
      indexes: {
        org_user: 'unique (org_id, user_id)',
        user: '(user_id)',
        org_state: '(org_id, state)',
        org_email: '(org_id, email)',
        look_alike: '(org_id, look_alike)',
      },
    },
  ),
  /**
   * Who made a member an administrator: a key, by its first secret, or a device at the approver page; and who did before, in
   * `earlier`, a JSON list of the same, oldest first. A row outlives its membership: the devices that the administrator added
   * or approved still refer to it.
   */
  appointments: sealed(
    {
      id: free(id),
      ...orgId,
      user_id: integer,
      ...each(orNull(integer), 'by_key', 'by_device'),
      appointed_at: text,
      earlier: withDefault(text, '[]'),
    },
    { indexes: { of_member: 'unique (org_id, user_id)' } },
  ),
  /** When a member is away: from `starts_at` until before `ends_at`. */
  absences: sealed(
    { id: free(id), ...member, ...each(text, 'starts_at', 'ends_at') },
    { isOfMember: true, indexes: { of_member: 'unique (org_id, user_id)' } },
  ),
  auth_codes: table(
    {
      id,
      ...orgId,
      ...each(text, 'label', 'code_hash', 'hint'),
      uses_left: orNull(integer),
      expires_at: orNull(text),
      ...changed,
    },
    { indexes: { hash: 'unique (code_hash)', org: '(org_id)' } },
  ),
  /**
   * One secret a row; a rotation adds a row under the same name. `org_id` null is a key of the whole service. `hash` is its
   * MAC.
   */
  api_keys: {
    ...table(
      {
        id,
        org_id: orNull(orgId.org_id),
        ...each(text, 'name', 'prefix', 'created_at'),
        hash: free(text),
        ...each(orNull(text), 'expires_at', 'revoked_at'),
        last_used_at: free(orNull(text)),
        /** The SHA-256 of the secret: a rotation of the master key computes `hash` from it. */
        wrapped_hash: wrapped('prefix'),
        /** The first secret of the key, if a rotation created this one. */
        lineage: orNull(integer),
        /** A comma list in the order of the contract. */
        scopes: text,
        /** The key that created it, by its first secret; null if the service did. */
        created_by: orNull(integer),
        /** The person who owns the key, if its creator set one. */
        owner_user_id: orNull(integer),
        /** When the owner confirmed it on their phone. */
        owner_confirmed_at: orNull(text),
        /** When its owner, or that of the key that created it, left; it expires a while later. */
        owner_left_at: orNull(text),
        /** 1 for a secret that a rotation replaced. */
        replaced: withDefault(flag, 0),
        /** Of an agent: the address of the tool server where the key works. Null for a key that works at the REST API. */
        audience: orNull(text),
        /** Of an agent: the OAuth client, and the name that it claims. */
        ...each(orNull(text), 'client_id', 'client_name'),
        /** Of an agent: the SHA-256 of the authorization code that it was exchanged for. */
        code_hash: orNull(text),
        /** Of the key of a person: the device with which they consented. */
        consented_with: orNull(integer),
        /** Of a key that another one created: the key of a person at the top, by its first secret. */
        person_key: orNull(integer),
      },
      {
        indexes: {
          prefix: 'unique (prefix)',
          org: '(org_id)',
          owner: '(owner_user_id, org_id)',
          created_by: '(created_by)',
          consented_with: '(consented_with)',
          code_hash: 'unique (code_hash) where code_hash is not null',
        },
      },
    ),
    isSealed: true as const,
  },
  idp_credentials: table(
    { ...orgId, ...each(text, 'provider', 'client_id', 'updated_at'), wrapped_secret: wrapped('org_id') },
    { key: ['org_id'] },
  ),
  /** OAuth clients that registered themselves. The id is a hash of the metadata, so that no program can change them. */
  oauth_clients: table(
    {
      ...each(text, 'id', 'metadata', 'created_at', 'expires_at'),
      /** When a person first consented to it. */
      used_at: orNull(text),
    },
    { indexes: { expiry: '(expires_at)' } },
  ),
  /** Terminals without a browser that wait for a person (RFC 8628). The service sealed `request` and `answer`. */
  device_codes: table(
    {
      ...each(text, 'code_hash', 'device_hash', 'request', 'expires_at'),
      /** The authorization code, once a person consented. */
      answer: orNull(text),
    },
    { key: ['code_hash'], indexes: { device: 'unique (device_hash)', expiry: '(expires_at)' } },
  ),
  geofences: table(
    { id, ...orgId, ...circle, is_active: flag, ...changed },
    { indexes: { org: '(org_id)' } },
  ),
  user_geofences: table(
    { id, ...member, ...circle, enabled: flag },
    { isOfMember: true, indexes: { member: '(org_id, user_id)' } },
  ),
  timeslots: table({ id, ...orgId, ...slot, ...changed }, { indexes: { org: '(org_id)' } }),
  user_timeslots: table(
    { id, ...member, ...slot },
    { isOfMember: true, indexes: { member: '(org_id, user_id)' } },
  ),
  /**
   * `members` is a JSON list of user ids, so that the MAC of a row covers who is in it. A deleted group has none, and keeps its
   * name, which is never used again.
   */
  groups: sealed(
    { id, ...orgId, ...each(text, 'name', 'members', 'created_at'), deleted_at: orNull(text) },
    { indexes: { name: 'unique (org_id, name)' } },
  ),
  /**
   * What the groups and rules of an organization are now: the digest of the groups, the rules and the live grants as JSON, the
   * number of changes so far, and the audit row that repeats it.
   */
  rule_heads: sealed(
    {
      ...orgId,
      ...each(integer, 'counter', 'audit_seq'),
      ...each(text, 'digest', 'rules', 'grants', 'audit_hash'),
    },
    { key: ['org_id'] },
  ),
  /**
   * Prices are decimals in canonical form: no separators, two decimals. `stock_name` is what was typed; the two below it
   * are the stock's code and name where the provider of quotes knew it.
   */
  machines: table(
    {
      id,
      ...orgId,
      ...each(text, 'machine_id', 'machine_name', 'stock_name'),
      ...each(orNull(text), 'stock_symbol', 'stock_title'),
      ...each(text, 'total_price', 'current_stock_price', 'mobile'),
      ...changed,
    },
    { indexes: { machine: 'unique (org_id, machine_id)' } },
  ),
}
