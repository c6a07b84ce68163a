import type { Generated } from 'kysely'
import type { Times } from './times.ts'

/**
 * In these tables, `org_id` is the organization of the key that was used, or 0 for an operator's. A key sees only the rows of
 * its own organization.
 */
export type MobileTables = {
  /** A registration by an app, until the owner of the phone confirms it. A number can have several. */
  registrations: {
    id: Generated<number>
    org_id: number
    user_id: number
    token_hash: string
    /** JSON. */
    profile: string
    created_at: string
    expires_at: string
  }
  /** A person who confirmed their phone; in an organization only once they are its member. */
  mobile_accounts: {
    id: Generated<number>
    org_id: number
    user_id: number
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
  } & Times
  /** The latest code of a phone; a new one replaces it. Its hash is wrapped by the master key. */
  otps: {
    org_id: number
    mobile: string
    salt: string
    wrapped_hash: string
    expires_at: string
    used_at: string | null
  }
  /** The recent uses of a rate limit, by kind and subject, until they no longer count. */
  turns: { org_id: number; kind: string; subject: string; slot: number; at: string; until: string }
  /** A sign-in of an account; all its tokens end together. */
  token_families: {
    family: string
    org_id: number
    user_id: number
    created_at: string
    ended_at: string | null
  }
  /** Each works once; using one again ends its family. */
  refresh_tokens: {
    id: Generated<number>
    family: string
    org_id: number
    /** The person of the family. */
    user_id: number
    token_hash: string
    created_at: string
    expires_at: string
    spent_at: string | null
    /** Null once it was used. */
    row_mac: string | null
  }
  email_verifications: {
    id: Generated<number>
    org_id: number
    user_id: number
    email: string
    token_hash: string
    created_at: string
    expires_at: string
    used_at: string | null
    /** Null once it was used. */
    row_mac: string | null
  }
}
