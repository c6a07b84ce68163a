import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'

/** `bytes` random bytes as base64url; 32 bytes are 256 bits in 43 characters. */
export const randomToken = (bytes = 32): string => randomBytes(bytes).toString('base64url')

export const requestId = (): string => `req_${randomUUID()}`

/** SHA-256 as lower-case hex. */
export const sha256 = (text: string | Uint8Array): string => hash('sha256', text)

/** SHA-256 as base64url. */
export const sha256Base64url = (text: string | Uint8Array): string => hash('sha256', text, 'base64url')

/** Compares in constant time; both are hashed, so lengths do not matter. */
export const sameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(a)), Buffer.from(sha256(b)))

/** `Acme Corp.` -> `acme-corp`. Empty when nothing usable is left. */
export const slugify = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-|-$/g, '')
