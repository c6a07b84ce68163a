import type { Generated } from 'kysely'

/** Columns that mean the same in each table that has them. */
type Shared = {
  id: Generated<number>
  org_id: number
  /** A person. With `org_id`, a member. */
  user_id: number
  /** SHA-256. */
  token_hash: string
  // Times are ISO 8601 text in UTC with milliseconds, so that they compare as text in every dialect.
  created_at: string
  updated_at: string
  expires_at: string
  /** Of the columns in `covered.ts`; null once a row that is valid once was used. */
  row_mac: string | null
}

export type With<C extends keyof Shared> = Pick<Shared, C>
