import type { Selectable } from 'kysely'
import type { Tables } from '../schema.ts'

type Words<S extends string> = S extends `${infer First} ${infer Rest}` ? First | Words<Rest> : S

const columns = <const C extends string, const F extends string>(of: { covered: C[]; free: F[] }) => ({
  covered: of.covered.join(' ').split(' ') as Words<C>[],
  free: of.free.join(' ').split(' ') as Words<F>[],
})

/**
 * The MAC of a row covers the columns that a decision relies on. A new column does not compile until it is listed here. Free
 * are columns that each use changes, that people only read, or that are authenticated by themselves.
 */
const plans = {
  signing_keys: columns({ covered: ['kid public_jwk created_at retired_at'], free: ['wrapped_jwk row_mac'] }),
  api_keys: columns({
    covered: [
      'id name org_id prefix created_at expires_at revoked_at lineage scopes created_by owner_user_id owner_confirmed_at',
      'owner_left_at replaced audience client_id client_name code_hash consented_with',
    ],
    free: ['hash wrapped_hash last_used_at'],
  }),
  // Receipts name the organization by both.
  organizations: columns({ covered: ['id slug'], free: ['name policy created_at updated_at row_mac'] }),
  people: columns({ covered: ['id mobile'], free: ['national country_code created_at row_mac'] }),
  // Its token hash identifies it, so that the row has its MAC from the start.
  enrollments: columns({
    covered: ['org_id user_id token_hash user_handle expires_at used_at created_by added_by'],
    free: ['id row_mac'],
  }),
  // These rows are valid once: with its use, a row loses its MAC.
  verifications: columns({
    covered: ['request_id org_id user_id key_id kind token_hash created_at expires_at'],
    free: ['id spent_at outcome source row_mac'],
  }),
  refresh_tokens: columns({
    covered: ['family org_id user_id token_hash created_at expires_at'],
    free: ['id spent_at row_mac'],
  }),
  email_verifications: columns({
    covered: ['org_id user_id email token_hash created_at expires_at'],
    free: ['id used_at row_mac'],
  }),
  // With its MAC it is the answer to a request that is sent again.
  idempotency: columns({
    covered: ['key_id org_id idempotency_key fingerprint answer created_at'],
    free: ['bytes row_mac'],
  }),
  // The request, its key and its approver; the approval, which alone sets `use_by`; and its use. The receipt proves the rest.
  approvals: columns({
    covered: [
      'request_id org_id key_id asked_by requester verified_as action reason approver_mobile lines rules',
      'excluded factors number requested_at expires_at subject_type subject_data subject_digest key_name',
      'key_scopes key_influences by_rule org_slug use_within_s use_by used_at asked_from asked_via',
      'key_owner unchecked_factors break_glass grant_terms granted_by grant_use',
    ],
    free: [
      'id answers status detail note decided_at ended_at decided_by attestation ruling erased_at cleared_at',
      'remind_at receipt_digest granted_until row_mac',
    ],
  }),
  // The person who is asked, and their yes while others are asked.
  ballots: columns({
    covered: [
      'request_id org_id user_id mobile name twin nonce status decided_at device_id attestation requested_at',
      'first_asked_by',
    ],
    free: ['id number_tries decision_digest row_mac'],
  }),
  // The digest proves what it is of.
  batch_rows: columns({ covered: ['request_id org_id row_index digest used_at'], free: ['id data row_mac'] }),
  devices: columns({
    covered: [
      'id org_id user_id kind credential_id public_key algorithm user_handle registered_at revoked_at',
      'state proof bound_at approved_at active_from enrolled_by added_by approved_by approved_by_key',
      'aaguid backup_eligible attestation_format',
    ],
    free: ['name counter last_used_at backed_up attachment row_mac'],
  }),
  groups: columns({ covered: ['id org_id name members created_at deleted_at'], free: ['row_mac'] }),
  rule_heads: columns({
    covered: ['org_id counter digest rules grants audit_seq audit_hash'],
    free: ['row_mac'],
  }),
  absences: columns({ covered: ['org_id user_id starts_at ends_at'], free: ['id row_mac'] }),
  appointments: columns({ covered: ['org_id user_id by_key by_device appointed_at'], free: ['id row_mac'] }),
}

type Plans = typeof plans
type Covered<T extends keyof Plans> = Plans[T]['covered'][number]
type Listed<T extends keyof Plans> = Covered<T> | Plans[T]['free'][number]

/** Columns that are not listed, or do not exist. */
type Mistake = {
  [T in keyof Plans]: Exclude<keyof Tables[T], Listed<T>> | Exclude<Listed<T>, keyof Tables[T]>
}[keyof Plans]

export type SealedTable = [Mistake] extends [never] ? keyof Plans : { mistake: Mistake }
export const sealedTables = Object.keys(plans) as SealedTable[]

/** The covered columns of a row. */
export type CoveredRow<T extends SealedTable> = Pick<
  Selectable<Tables[T]>,
  Covered<T> & keyof Selectable<Tables[T]>
>

/** The table and the covered columns as one text; equal rows give equal texts. */
export const coveredText = <T extends SealedTable>(table: T, row: CoveredRow<T>): string => {
  const values = row as Record<string, unknown>
  return JSON.stringify([table, ...plans[table].covered.map((column) => values[column] ?? null)])
}
