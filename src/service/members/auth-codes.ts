import { randomBytes } from 'node:crypto'
import { sha256 } from '../../core/ids.ts'

// Crockford's base32 has no I, L, O and U, so that a code survives being read aloud.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** 80 random bits as four groups of four, shown once; only the hash of the bare code and its last four are kept. */
export const newAuthCode = (): { code: string; hash: string; hint: string } => {
  const bare = Array.from(randomBytes(16), (byte) => alphabet[byte % 32]!).join('')
  return { code: bare.match(/.{4}/g)!.join('-'), hash: sha256(bare), hint: bare.slice(-4) }
}

/** By what a code is found as somebody typed it: O is 0 there, I and L are 1. Undefined when it can be none. */
export const hashOfCode = (typed: string): string | undefined => {
  const bare = typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')
  return /^[0-9A-HJKMNP-TV-Z]{16}$/.test(bare) ? sha256(bare) : undefined
}
