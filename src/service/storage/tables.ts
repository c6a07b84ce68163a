import type { Tables } from './schema.ts'

type Table = {
  /** The columns of its primary key. */
  key: readonly string[]
  /** Whether the store assigns its ids. */
  isNumbered?: true
  /** Whether its rows are about the store itself, so that no copy contains them. */
  isOfStore?: true
}

const numbered: Table = { key: ['id'], isNumbered: true }

/** Every table, after those that it refers to. A new one does not compile until it is listed here. */
export const tables = {
  schema_version: { key: ['version'], isOfStore: true },
  nodes: { key: ['id'], isOfStore: true },
  settings: { key: ['name'] },
  signing_keys: { key: ['kid'] },
  organizations: numbered,
  organization_limits: { key: ['org_id', 'name'] },
  people: numbered,
  erased_people: { key: ['user_id'] },
  memberships: numbered,
  appointments: numbered,
  absences: numbered,
  auth_codes: numbered,
  api_keys: numbered,
  idp_credentials: { key: ['org_id'] },
  oauth_clients: { key: ['id'] },
  device_codes: { key: ['code_hash'] },
  geofences: numbered,
  user_geofences: numbered,
  timeslots: numbered,
  user_timeslots: numbered,
  enrollments: numbered,
  devices: numbered,
  approver_sessions: numbered,
  spent_challenges: { key: ['hash'] },
  device_push: { key: ['device_id', 'endpoint_hash'] },
  approvals: numbered,
  ballots: numbered,
  batch_rows: numbered,
  verifications: numbered,
  mutes: { key: ['org_id', 'user_id', 'key_id', 'agent'] },
  registrations: numbered,
  mobile_accounts: numbered,
  otps: { key: ['org_id', 'mobile'] },
  turns: { key: ['org_id', 'kind', 'subject', 'slot'] },
  token_families: { key: ['family'] },
  refresh_tokens: numbered,
  email_verifications: numbered,
  groups: numbered,
  rule_heads: { key: ['org_id'] },
  machines: numbered,
  webhooks: { key: ['webhook_id'] },
  outbox: numbered,
  idempotency: { key: ['key_id', 'idempotency_key'] },
  audit: { key: ['org_id', 'seq'] },
} as const satisfies Record<keyof Tables, Table>

export const tableNames = Object.keys(tables) as (keyof Tables)[]
