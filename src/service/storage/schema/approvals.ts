import type { Generated } from 'kysely'

export type ApprovalsTables = {
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
    /** The API key that made the link; null where the service did. */
    created_by: number | null
    row_mac: string | null
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
    /** Only an active one decides. */
    state: Generated<'pending' | 'active' | 'revoked' | 'refused'>
    /** How it became active; of a pending one, what it waits for. */
    proof: Generated<'link' | 'otp' | 'device' | 'admin'>
    /** When it became active. */
    bound_at: string | null
    /** The cooling period of a recovery: from its approval to `active_from`. */
    approved_at: string | null
    active_from: string | null
    /** The API key that made its enrollment link; null where the service did, or nobody knows. */
    enrolled_by: number | null
    aaguid: string | null
    backup_eligible: 0 | 1 | null
    attestation_format: string | null
    row_mac: string | null
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
    /** The secret that asked; 0 is the bearer of the tool server. */
    key_id: number
    /** Whose the request is: the first secret of that key, whatever rotations come. */
    asked_by: number
    /** What the requester says of itself; the approver signs it. */
    requester: string
    /** What its credential proves, in words; null in rows from before it was kept. */
    verified_as: string | null
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
    /** What the rules found at the decision, factor by factor. */
    ruling: string | null
    /** When its approver was deleted: no longer shown, and kept for the limits alone. */
    erased_at: string | null
    /** 2 from the first row that has the columns below. */
    format: Generated<1 | 2>
    /** What exactly is approved: canonical JSON, and its SHA-256. */
    subject_type: string | null
    subject_data: string | null
    subject_digest: string | null
    /** The key as it was when it asked; scopes are a comma list. */
    key_name: string | null
    key_scopes: string | null
    /** Whether it could influence who approves. */
    key_influences: Generated<0 | 1>
    /** 1 where the service asked by itself, because a rule of the organization requires an approval. */
    by_rule: Generated<0 | 1>
    org_slug: string | null
    /** Seconds from the approval in which it can be used. */
    use_within_s: Generated<number>
    /** Until when it can be used; set by the approval. */
    use_by: string | null
    used_at: string | null
    /** When its texts, numbers and places were cleared, and the SHA-256 of the receipt that went with them. */
    cleared_at: string | null
    receipt_digest: string | null
    row_mac: string | null
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
  /**
   * Keys, each by its first secret, that an approver does not want to hear of for a while. `agent` is the requester where
   * several agents share the bearer of the tool server, else empty.
   */
  mutes: { org_id: number; user_id: number; key_id: number; agent: Generated<string>; until: string }
}
