import type { With } from './columns.ts'

/**
 * In these tables, `org_id` is the organization of the key that was used, or 0 for an operator's. A key sees only the rows of
 * its own organization.
 */
export type MobileTables = {
  /** A registration by an app, until the owner of the phone confirms it. A number can have several. */
  registrations: {
    /** JSON. */
    profile: string
  } & With<'id' | 'org_id' | 'user_id' | 'token_hash' | 'created_at' | 'expires_at'>
  /** A person who confirmed their phone; in an organization only once they are its member. */
  mobile_accounts: {
    first_name: string
    last_name: string
    email: string | null
    email_verified_at: string | null
    /** When the address last changed. */
    email_changed_at: string | null
    device_id: string | null
    imei: string | null
    platform: string | null
    device_name: string | null
  } & With<'id' | 'org_id' | 'user_id' | 'created_at' | 'updated_at'>
  /** The latest code of a phone; a new one replaces it. Its hash is wrapped by the master key. */
  otps: {
    mobile: string
    salt: string
    wrapped_hash: string
    used_at: string | null
  } & With<'org_id' | 'expires_at'>
  /** The recent uses of a rate limit, by kind and subject, until they no longer count. */
  turns: { org_id: number; kind: string; subject: string; slot: number; at: string; until: string }
  /** A sign-in of an account; all its tokens end together. */
  token_families: { family: string; ended_at: string | null } & With<'org_id' | 'user_id' | 'created_at'>
  /** Each works once; using one again ends its family. */
  refresh_tokens: {
    family: string
    spent_at: string | null
  } & With<'id' | 'org_id' | 'user_id' | 'token_hash' | 'created_at' | 'expires_at' | 'row_mac'>
  email_verifications: {
    email: string
    used_at: string | null
  } & With<'id' | 'org_id' | 'user_id' | 'token_hash' | 'created_at' | 'expires_at' | 'row_mac'>
}
