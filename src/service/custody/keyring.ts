import type { RowMacs } from './row-mac.ts'
import type { Wrapping } from './wrapping.ts'

/** The service's own secrets. */
export type Keyring = Wrapping &
  RowMacs & {
    /** Signs JSON claims as a compact JWS with the active signing key. */
    sign(claims: Record<string, unknown>, typ: string): Promise<string>
    /** Public keys, retired ones included. */
    jwks(): Promise<{ keys: Record<string, unknown>[] }>
    /** What stands for a secret in the subject of an approval: only the service can tell what it was. */
    secretDigest(secret: string): string
  }
