import type { Db, CoveredRow, SealedTable, WrapContext } from '../storage/schema.ts'

/** Tables whose rows have a MAC of their own. */
export type MacTable = Exclude<SealedTable, 'api_keys'>

export type RowMacs = {
  /** HMAC-SHA-256 over the table and the covered columns of a row. */
  macOf<T extends MacTable>(table: T, row: CoveredRow<T>): string
  /** Whether the service wrote this row and no other program has changed it since. */
  holds<T extends MacTable>(table: T, row: CoveredRow<T> & { row_mac: string | null }): boolean
  /**
   * The stored form of an API key: an HMAC over the SHA-256 of its secret and the covered columns. After another program
   * changes the row, the secret no longer matches.
   */
  keyHash(secretHash: string, row: CoveredRow<'api_keys'>): string
}

export type Wrapping = {
  /** AES-256-GCM under a key of the master key; `context` is bound in, so a value cannot be moved to another row. */
  wrap(plain: string, context: WrapContext): string
  unwrap(wrapped: string, context: WrapContext): string
}

/** Operations with the secrets of the service. */
export type Keyring = Wrapping &
  RowMacs & {
    /** Signs JSON claims as a compact JWS with the active signing key. With `db`, inside its transaction: it awaits only SQL. */
    sign(claims: Record<string, unknown>, typ: string, db?: Db): Promise<string>
    /** Public keys, retired ones included. */
    jwks(): Promise<{ keys: Record<string, unknown>[] }>
    /** Replaces a secret in the subject of an approval; only the service can compute it. */
    secretDigest(secret: string): string
  }
