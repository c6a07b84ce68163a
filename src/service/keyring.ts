/** The service's own secrets. */
export type Keyring = {
  /** AES-256-GCM under the master key; `context` is bound in, so a value cannot be moved to another row. */
  wrap(plain: string, context: string): string
  unwrap(wrapped: string, context: string): string
  /** Signs JSON claims as a compact JWS with the active signing key. */
  sign(claims: Record<string, unknown>, typ: string): Promise<string>
  /** Public keys, retired ones included. */
  jwks(): { keys: Record<string, unknown>[] }
}
