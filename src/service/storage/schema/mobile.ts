import type { Generated } from 'kysely'
import type { Times } from './times.ts'

/**
 * Here `org_id` is the organization of the key that was used, 0 for an operator's: nobody reads what was registered with
 * another's.
 */
export type MobileTables = {
  /** What an app on a phone wants to register, until its owner confirms it. A number may have several. */
  registrations: {
    id: Generated<number>
    org_id: number
    user_id: number
    /** Null for those of an older svc. */
    token_hash: string | null
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
    /** When it last became another address. */
    email_changed_at: string | null
    device_id: string | null
    imei: string | null
    platform: string | null
    device_name: string | null
  } & Times
  /** The code that a phone was sent last; a new one takes its place. Its hash is wrapped by the master key. */
  otps: {
    org_id: number
    mobile: string
    salt: string
    wrapped_hash: string
    expires_at: string
    used_at: string | null
  }
  /** When each of the last few things of a kind was done with a subject, until it counts no more: what limits look at. */
  turns: { org_id: number; kind: string; subject: string; slot: number; at: string; until: string }
  /** A sign-in of an account; it ends for all its tokens at once. */
  token_families: {
    family: string
    org_id: number
    user_id: number
    created_at: string
    ended_at: string | null
  }
  /** Each is good once; whoever shows a spent one again ends its family. */
  refresh_tokens: {
    id: Generated<number>
    family: string
    org_id: number
    token_hash: string
    created_at: string
    expires_at: string
    spent_at: string | null
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
  }
}
