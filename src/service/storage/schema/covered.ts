import type { Selectable } from 'kysely'
import type { Tables } from '../schema.ts'

/**
 * The MAC of a row covers the columns that a decision relies on. A new column does not compile until it is listed here. Not
 * covered are columns that each use changes, that people only read, or that are authenticated by themselves.
 */
const covered = {
  signing_keys: {
    kid: true,
    public_jwk: true,
    wrapped_jwk: false,
    created_at: true,
    retired_at: true,
    row_mac: false,
  },
  api_keys: {
    id: true,
    name: true,
    org_id: true,
    prefix: true,
    hash: false,
    wrapped_hash: false,
    created_at: true,
    last_used_at: false,
    expires_at: true,
    revoked_at: true,
    lineage: true,
    scopes: true,
    created_by: true,
    owner_user_id: true,
    replaced: true,
    audience: true,
    client_id: true,
    client_name: true,
    code_hash: true,
    consented_with: true,
  },
  people: {
    id: true,
    mobile: true,
    national: false,
    country_code: false,
    created_at: false,
    row_mac: false,
  },
  enrollments: {
    // Its token hash identifies it, so that the row has its MAC from the start.
    id: false,
    org_id: true,
    user_id: true,
    token_hash: true,
    user_handle: true,
    expires_at: true,
    used_at: true,
    created_by: true,
    added_by: true,
    row_mac: false,
  },
  // These rows are valid once: with its use, a row loses its MAC.
  verifications: {
    id: false,
    request_id: true,
    org_id: true,
    user_id: true,
    key_id: true,
    kind: true,
    token_hash: true,
    created_at: true,
    expires_at: true,
    spent_at: false,
    outcome: false,
    source: false,
    row_mac: false,
  },
  refresh_tokens: {
    id: false,
    family: true,
    org_id: true,
    user_id: true,
    token_hash: true,
    created_at: true,
    expires_at: true,
    spent_at: false,
    row_mac: false,
  },
  email_verifications: {
    id: false,
    org_id: true,
    user_id: true,
    email: true,
    token_hash: true,
    created_at: true,
    expires_at: true,
    used_at: false,
    row_mac: false,
  },
  // With its MAC it is the answer to a request that is sent again.
  idempotency: {
    key_id: true,
    org_id: true,
    bytes: false,
    idempotency_key: true,
    fingerprint: true,
    answer: true,
    created_at: true,
    row_mac: false,
  },
  // The request, its key and its approver; the approval, which alone sets `use_by`; and its use. The receipt proves the rest.
  approvals: {
    id: false,
    request_id: true,
    org_id: true,
    user_id: true,
    key_id: true,
    asked_by: true,
    requester: true,
    verified_as: true,
    action: true,
    reason: true,
    approver_mobile: true,
    factors: true,
    number: true,
    number_tries: false,
    nonce: true,
    status: false,
    detail: false,
    note: false,
    requested_at: true,
    expires_at: true,
    decided_at: false,
    ended_at: false,
    device_id: false,
    attestation: false,
    decision_digest: false,
    ruling: false,
    erased_at: false,
    subject_type: true,
    subject_data: true,
    subject_digest: true,
    key_name: true,
    key_scopes: true,
    key_influences: true,
    by_rule: true,
    org_slug: true,
    use_within_s: true,
    use_by: true,
    used_at: true,
    cleared_at: false,
    receipt_digest: false,
    asked_from: true,
    asked_via: true,
    key_owner: true,
    unchecked_factors: true,
    row_mac: false,
  },
  devices: {
    id: true,
    org_id: true,
    user_id: true,
    name: false,
    kind: true,
    credential_id: true,
    public_key: true,
    algorithm: true,
    user_handle: true,
    counter: false,
    registered_at: true,
    last_used_at: false,
    revoked_at: true,
    state: true,
    proof: true,
    bound_at: true,
    approved_at: true,
    active_from: true,
    enrolled_by: true,
    added_by: true,
    approved_by: true,
    approved_by_key: true,
    aaguid: true,
    backup_eligible: true,
    attestation_format: true,
    backed_up: false,
    attachment: false,
    row_mac: false,
  },
  appointments: {
    id: false,
    org_id: true,
    user_id: true,
    by_key: true,
    by_device: true,
    appointed_at: true,
    row_mac: false,
  },
} satisfies { [T in keyof Tables]?: Record<keyof Tables[T], boolean> }

type Covered = typeof covered
export type SealedTable = keyof Covered
export const sealedTables = Object.keys(covered) as SealedTable[]

/** The covered columns of a row. */
export type CoveredRow<T extends SealedTable> = {
  [
    C in keyof Covered[T] & keyof Tables[T] as Covered[T][C] extends false ? never : C
  ]: C extends keyof Selectable<Tables[T]> ? Selectable<Tables[T]>[C] : never
}

const columns = Object.fromEntries(
  Object.entries(covered).map(([table, kinds]) => [
    table,
    Object.entries(kinds).flatMap(([column, isCovered]) => (isCovered ? [column] : [])),
  ]),
) as Record<SealedTable, string[]>

/** The table and the covered columns as one text; equal rows give equal texts. */
export const coveredText = <T extends SealedTable>(table: T, row: CoveredRow<T>): string => {
  const values = row as Record<string, unknown>
  return JSON.stringify([table, ...columns[table].map((column) => values[column] ?? null)])
}
