import type { Generated, Kysely } from 'kysely'

// Times are ISO 8601 text in UTC with milliseconds, so that they compare as text in every dialect.
type Times = { created_at: string; updated_at: string }

export type Tables = {
  organizations: { id: Generated<number>; name: string; slug: string; policy: string } & Times
  people: { id: Generated<number>; mobile: string; country_code: string; created_at: string }
  /** A person (`user_id`) in an organization. */
  memberships: {
    id: Generated<number>
    org_id: number
    user_id: number
    email: string
    first_name: string
    last_name: string
    role: 'operator' | 'admin' | 'member'
    state: 'pending' | 'active' | 'rejected' | 'removed'
  } & Times
  auth_codes: {
    id: Generated<number>
    org_id: number
    label: string
    code_hash: string
    hint: string
    uses_left: number | null
    expires_at: string | null
  } & Times
  /** One secret a row; a rotation adds a row under the same name. `org_id` null is an operator key. */
  api_keys: {
    id: Generated<number>
    name: string
    org_id: number | null
    prefix: string
    hash: string
    created_at: string
    last_used_at: string | null
    expires_at: string | null
    revoked_at: string | null
  }
  idp_credentials: {
    org_id: number
    provider: string
    client_id: string
    wrapped_secret: string
    updated_at: string
  }
  geofences: {
    id: Generated<number>
    org_id: number
    name: string
    latitude: number
    longitude: number
    radius: number
    is_active: 0 | 1
  } & Times
  user_geofences: {
    id: Generated<number>
    org_id: number
    user_id: number
    name: string
    latitude: number
    longitude: number
    radius: number
    enabled: 0 | 1
  }
  /** `days` is a comma list of weekdays. */
  timeslots: { id: Generated<number>; org_id: number } & Slot & Times
  user_timeslots: { id: Generated<number>; org_id: number; user_id: number } & Slot
  /** One-use links with which a person registers a phone. */
  enrollments: {
    id: Generated<number>
    org_id: number
    user_id: number
    token_hash: string
    /** What the authenticator knows the user by; one for all devices of a member. */
    user_handle: Generated<string>
    expires_at: string
    used_at: string | null
  }
  /** What a person decides with, in one organization. Bytes are base64url. */
  devices: {
    id: Generated<number>
    org_id: number
    user_id: number
    name: string
    kind: 'phone' | 'software'
    credential_id: string
    public_key: string
    algorithm: -7 | -8 | -257
    user_handle: string
    counter: number
    registered_at: string
    last_used_at: string | null
    revoked_at: string | null
  }
  /** Who stands at the approver page; a session ends with its device. */
  approver_sessions: {
    id: Generated<number>
    device_id: number
    token_hash: string
    created_at: string
    last_seen_at: string
    expires_at: string
  }
  /** Challenges that were answered, until they would have lapsed. */
  spent_challenges: { hash: string; expires_at: string }
  /** Where a device gets its notifications; the subscription is wrapped by the master key. */
  push_subscriptions: { device_id: number; wrapped: string; created_at: string }
  approvals: {
    id: Generated<number>
    request_id: string
    org_id: number
    /** The approver. */
    user_id: number
    /** The key that asked; 0 is the bearer of the tool server. */
    key_id: number
    requester: string
    action: string
    reason: string | null
    approver_mobile: string
    factors: string
    number: string | null
    number_tries: Generated<number>
    nonce: string
    status: Generated<'pending' | 'approved' | 'denied' | 'expired'>
    detail: string | null
    requested_at: string
    expires_at: string
    decided_at: string | null
    /** When it stopped to be pending, however. */
    ended_at: string | null
    device_id: number | null
    attestation: string | null
  }
  /** Who is verified, once: by a prompt on their phone (an approval of that `request_id`) or with a token. */
  verifications: {
    id: Generated<number>
    request_id: string
    org_id: number
    user_id: number
    /** The key that asked. */
    key_id: number
    kind: 'prompt' | 'token'
    token_hash: string | null
    created_at: string
    expires_at: string
    spent_at: string | null
    /** What it was spent for. */
    outcome: 'success' | 'denied' | null
    /** Whose word that is. */
    source: 'service' | 'caller' | null
  }
  /** Keys that an approver does not want to hear of for a while. */
  mutes: { org_id: number; user_id: number; key_id: number; until: string }
  /** What a store keeps of its service beyond its start. */
  settings: { name: string; value: string }
  /** One hash chain an organization; `org_id` 0 is the service itself. */
  audit: {
    org_id: number
    seq: number
    at: string
    actor: string
    action: string
    subject: string
    changes: string
    request_id: string
    prev_hash: string
    hash: string
  }
  /** Answers kept for repeats of one `Idempotency-Key`, without their secrets. */
  idempotency: {
    key_id: number
    idempotency_key: string
    fingerprint: string
    answer: string
    created_at: string
  }
  /** The service's own keys; the private half is wrapped by the master key. */
  signing_keys: {
    kid: string
    public_jwk: string
    wrapped_jwk: string
    created_at: string
    retired_at: string | null
  }
}

type Slot = {
  name: string
  days: string
  start: string
  end: string
  timezone: string
  is_active: 0 | 1
}

/** A connection, in a transaction or not. Every query of the service goes through one. */
export type Db = Kysely<Tables>
