import type { Generated } from 'kysely'
import type { With } from './columns.ts'

export type ApprovalsTables = {
  /** One-use links with which a person registers a phone. */
  enrollments: {
    /** The user's id in authenticators; the same for all devices of a member. */
    user_handle: string
    used_at: string | null
    /** The API key that created the link; null if a device did. */
    created_by: number | null
    /** The device on whose approver page it was created. */
    added_by: number | null
  } & With<'id' | 'org_id' | 'user_id' | 'token_hash' | 'expires_at' | 'row_mac'>
  /** The device of a person, in one organization. Bytes are base64url. */
  devices: {
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
    /** Only an active device can decide. */
    state: 'pending' | 'active' | 'revoked' | 'refused'
    /** How it became active; for a pending one, what it is waiting for. */
    proof: 'link' | 'otp' | 'device' | 'admin'
    /** When it became active. */
    bound_at: string | null
    /** The cooling period of a recovery: from its approval to `active_from`. */
    approved_at: string | null
    active_from: string | null
    /** The API key that created its enrollment link; null if a device did. */
    enrolled_by: number | null
    /** The device on whose approver page its link was created. */
    added_by: number | null
    /** What approved it, if its proof requires that: another device, or a key (by its first secret). */
    approved_by: number | null
    approved_by_key: number | null
    aaguid: string | null
    backup_eligible: 0 | 1 | null
    attestation_format: string | null
    /** Whether its key was copied to other devices, when it last signed. */
    backed_up: 0 | 1 | null
    /** Where the key is, as the browser said it at the registration; nothing verifies it. */
    attachment: 'platform' | 'cross-platform' | null
  } & With<'id' | 'org_id' | 'user_id' | 'row_mac'>
  /** Sessions at the approver page; a session ends with its device. */
  approver_sessions: {
    device_id: number
    last_seen_at: string
  } & With<'id' | 'token_hash' | 'created_at' | 'expires_at'>
  /** Answered challenges, until they would have expired. */
  spent_challenges: { hash: string; expires_at: string }
  /** Where the phones of a device get their notifications, wrapped by the master key. A synced passkey has several phones. */
  device_push: {
    device_id: number
    /** The session that subscribed. */
    session_id: number
    /** SHA-256, so that the page recognizes its own. */
    endpoint_hash: string
    wrapped: string
    created_at: string
  }
  approvals: {
    request_id: string
    /** The requesting secret; 0 is the bearer token of the tool server. */
    key_id: number
    /** The owner of the request: the first secret of that key, also after rotations. */
    asked_by: number
    /** The requester as it names itself; the approver signs it. */
    requester: string
    /** The verified identity of the requester. */
    verified_as: string
    action: string
    reason: string | null
    /** The only person who was named, else the first who is asked. */
    approver_mobile: string
    /** Who must agree, as JSON; see `approvals/lines.ts`. */
    lines: string
    /** What each person answered, as JSON; null before the first. The ballots prove it. */
    answers: string | null
    /** The rules that held the request, by name and digest, as JSON. */
    rules: string
    /** Who is in a line but was not asked, and why, as JSON. */
    excluded: string
    factors: string
    number: string | null
    status: Generated<'pending' | 'approved' | 'denied' | 'expired'>
    detail: string | null
    /** What the approver wrote with a denial; the device signed it. */
    note: string | null
    requested_at: string
    decided_at: string | null
    /** When it stopped being pending. */
    ended_at: string | null
    /** When to notify the people again who have not answered; null for a short request, and afterwards. */
    remind_at: string | null
    /** The person whose ballot ended it. */
    decided_by: number | null
    /** What proves the outcome: the receipt of that person, or the set of receipts of several. */
    attestation: string | null
    /** The results of the rules at the decision, by factor. */
    ruling: string | null
    /** When its approver was deleted: the row is hidden and counts only for rate limits. */
    erased_at: string | null
    /** The subject of the approval: canonical JSON, null once it was cleared, and its SHA-256. */
    subject_type: string
    subject_data: string | null
    subject_digest: string
    /** The key at the time of the request; scopes are a comma list. */
    key_name: string
    key_scopes: string
    /** Whether the key could influence who approves. */
    key_influences: 0 | 1
    /** 1 if the service created the request because a rule of the organization requires an approval. */
    by_rule: 0 | 1
    org_slug: string
    /** For how many seconds after the approval it can be used. */
    use_within_s: number
    /** Set by the approval: until when it can be used. */
    use_by: string | null
    used_at: string | null
    /** When its texts, numbers and locations were cleared, and the SHA-256 of the cleared receipt. */
    cleared_at: string | null
    receipt_digest: string | null
    /** The IP address of the requester; null if there was none. */
    asked_from: string | null
    /** The interface that the request came through. */
    asked_via: 'api' | 'tools'
    /** The owner of the key, as JSON; null if it has none. */
    key_owner: string | null
    /** Default factors that there was nothing to check against, as JSON; null if there is none. */
    unchecked_factors: string | null
    /** What its approver can grant, as JSON; null if they cannot. */
    grant_terms: string | null
    /** Until when it was granted; the grant can have ended since. */
    granted_until: string | null
    /** Of a use of a grant: the request with which it was granted, and which use it is. No person saw it. */
    granted_by: string | null
    grant_use: number | null
    /** Why it broke the glass, whom it skips and who was told, as JSON; null for any other request. */
    break_glass: string | null
  } & With<'id' | 'org_id' | 'expires_at' | 'row_mac'>
  /** What each person who is asked answers. The first denial ends the request. */
  ballots: {
    request_id: string
    /** The person as they were when the request was made; they sign it. */
    mobile: string
    name: string
    /** Whether another active member had this name, or one that looks like it. */
    twin: 0 | 1
    nonce: string
    number_tries: Generated<number>
    status: Generated<'pending' | 'approved' | 'denied'>
    decided_at: string | null
    device_id: number | null
    /** The receipt of a yes, while the others are still asked. */
    attestation: string | null
    /** SHA-256 of the decision that was counted last, as it was posted: a repeat gets the same answer. */
    decision_digest: string | null
    requested_at: string
    /** The requesting key, by its first secret, if it had never asked this person before. */
    first_asked_by: number | null
  } & With<'id' | 'org_id' | 'user_id' | 'row_mac'>
  /** The changes that one request asks for together. Each is used once. */
  batch_rows: {
    request_id: string
    /** Its place in the list that people agreed to, from 0. */
    row_index: number
    /** What a request for this change alone would ask, as canonical JSON, and its SHA-256. */
    data: string
    digest: string
    used_at: string | null
  } & With<'id' | 'org_id' | 'row_mac'>
  /** One-time verifications of a person: by a prompt on the phone (the approval `request_id`) or with a token. */
  verifications: {
    request_id: string
    /** The requesting key. */
    key_id: number
    kind: 'prompt' | 'token'
    token_hash: string | null
    spent_at: string | null
    /** The result that used it up. */
    outcome: 'success' | 'denied' | null
    /** Who reported the result. */
    source: 'service' | 'caller' | null
  } & With<'id' | 'org_id' | 'user_id' | 'created_at' | 'expires_at' | 'row_mac'>
  /**
   * Keys, by their first secret, that an approver has muted for a while. `agent` is the requester if several agents share the
   * bearer token of the tool server, otherwise empty.
   */
  mutes: { org_id: number; user_id: number; key_id: number; agent: string; until: string }
}
