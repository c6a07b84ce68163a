import type { Generated } from 'kysely'
import type { With } from './columns.ts'

type Slot = {
  name: string
  days: string
  start: string
  end: string
  timezone: string
  is_active: 0 | 1
}

export type OrganizationsTables = {
  organizations: {
    name: string
    slug: string
    policy: string
  } & With<'id' | 'created_at' | 'updated_at' | 'row_mac'>
  /** `mobile` is E.164; `national` reads as the same number under `country_code`. */
  people: { mobile: string; national: string; country_code: string } & With<'id' | 'created_at' | 'row_mac'>
  /** A person (`user_id`) in an organization. */
  memberships: {
    email: string
    first_name: string
    last_name: string
    /** Equal for names that look alike. */
    look_alike: string
    role: 'operator' | 'admin' | 'member'
    state: 'pending' | 'active' | 'rejected' | 'removed'
    /** The period in which a new administrator cannot approve recoveries; null if there is none. */
    promoted_at: string | null
    admin_from: string | null
  } & With<'id' | 'org_id' | 'user_id' | 'created_at' | 'updated_at'>
  /** Who made a member an administrator, the last time: a key, by its first secret, or a device at the approver page. */
  appointments: {
    by_key: number | null
    by_device: number | null
    appointed_at: string
  } & With<'id' | 'org_id' | 'user_id' | 'row_mac'>
  /** When a member is away: from `starts_at` until before `ends_at`. */
  absences: { starts_at: string; ends_at: string } & With<'id' | 'org_id' | 'user_id' | 'row_mac'>
  /** Deleted people whose history counts: the same number gets the same id again. Stores a MAC, not the number. */
  erased_people: { user_id: number; mobile_mac: string }
  auth_codes: {
    label: string
    code_hash: string
    hint: string
    uses_left: number | null
    expires_at: string | null
  } & With<'id' | 'org_id' | 'created_at' | 'updated_at'>
  /** One secret a row; a rotation adds a row under the same name. `org_id` null is a key of the whole service. */
  api_keys: {
    name: string
    org_id: number | null
    prefix: string
    hash: string
    last_used_at: string | null
    expires_at: string | null
    revoked_at: string | null
    /** The SHA-256 of the secret, wrapped by the master key: a rotation of the master key computes `hash` from it. */
    wrapped_hash: string
    /** The first secret of the key, if a rotation created this one. */
    lineage: number | null
    /** A comma list in the order of the contract. */
    scopes: string
    /** The key that created it, by its first secret; null if the service did. */
    created_by: number | null
    /** The person who owns the key, if its creator set one. */
    owner_user_id: number | null
    /** When the owner confirmed it on their phone. */
    owner_confirmed_at: string | null
    /** When its owner, or that of the key that created it, left; it expires a while later. */
    owner_left_at: string | null
    /** 1 for a secret that a rotation replaced. */
    replaced: Generated<0 | 1>
    /** Of an agent: the address of the tool server where the key works. Null for a key that works at the REST API. */
    audience: string | null
    /** Of an agent: the OAuth client, and the name that it claims. */
    client_id: string | null
    client_name: string | null
    /** Of an agent: the SHA-256 of the authorization code that it was exchanged for. */
    code_hash: string | null
    /** Of an agent: the device with which its owner consented. */
    consented_with: number | null
  } & With<'id' | 'created_at'>
  /** OAuth clients that registered themselves. The id is a hash of the metadata, so that no program can change them. */
  oauth_clients: {
    id: string
    metadata: string
    /** When a person first consented to it. */
    used_at: string | null
  } & With<'created_at' | 'expires_at'>
  /** Terminals without a browser that wait for a person (RFC 8628). The service sealed `request` and `answer`. */
  device_codes: {
    code_hash: string
    device_hash: string
    request: string
    /** The authorization code, once a person consented. */
    answer: string | null
    expires_at: string
  }
  idp_credentials: {
    provider: string
    client_id: string
    wrapped_secret: string
  } & With<'org_id' | 'updated_at'>
  geofences: {
    name: string
    latitude: number
    longitude: number
    radius: number
    is_active: 0 | 1
  } & With<'id' | 'org_id' | 'created_at' | 'updated_at'>
  user_geofences: {
    name: string
    latitude: number
    longitude: number
    radius: number
    enabled: 0 | 1
  } & With<'id' | 'org_id' | 'user_id'>
  /** `days` is a comma list of weekdays. */
  timeslots: Slot & With<'id' | 'org_id' | 'created_at' | 'updated_at'>
  user_timeslots: Slot & With<'id' | 'org_id' | 'user_id'>
  /** `members` is a JSON list of user ids; a deleted group has none, and keeps its name. */
  groups: {
    name: string
    members: string
    deleted_at: string | null
  } & With<'id' | 'org_id' | 'created_at' | 'row_mac'>
  /**
   * What the groups and rules of an organization are now: the digest of the groups, the rules and the live grants as JSON, the
   * number of changes so far, and the audit row that repeats it.
   */
  rule_heads: Record<'org_id' | 'counter' | 'audit_seq', number> &
    Record<'digest' | 'rules' | 'grants' | 'audit_hash', string> & { row_mac: string | null }
  /** Limits that the operator set for an organization; `value` is JSON. */
  organization_limits: { org_id: number; name: string; value: string }
  /**
   * Prices are decimals in canonical form: no separators, two decimals. `stock_name` is what was typed; the two below it
   * are the stock's code and name where the provider of quotes knew it.
   */
  machines: {
    machine_id: string
    machine_name: string
    stock_name: string
    stock_symbol: string | null
    stock_title: string | null
    total_price: string
    current_stock_price: string
    mobile: string
  } & With<'id' | 'org_id' | 'created_at' | 'updated_at'>
}
