import { hkdfSync } from 'node:crypto'

/** What a key is derived for. A key of one purpose tells nothing about that of another, nor about the master key. */
export type Purpose = 'wrap' | 'rows' | 'api keys' | 'subjects'

/** 32 bytes by HKDF-SHA-256 (RFC 5869). */
export const deriveKey = (masterKey: Buffer, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `svc 2 ${purpose}`, 32))
