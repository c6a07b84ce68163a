declare module 'http_ece' {
  import type { ECDH } from 'node:crypto'

  /** RFC 8188 and 8291. Bytes, or base64url. */
  export const encrypt: (
    payload: Buffer,
    parameters: { version: 'aes128gcm'; dh: string; privateKey: ECDH; authSecret: string },
  ) => Buffer
}
