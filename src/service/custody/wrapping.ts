import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { sameSecret } from '../../core/ids.ts'
import type { RowMacs, Wrapping } from '../call/keyring.ts'
import { coveredText, type WrapContext } from '../storage/schema.ts'

/** What a key is derived for. The key of one purpose reveals nothing about another key, nor about the master key. */
type Purpose = 'wrap' | 'rows' | 'api keys' | 'subjects'

/** 32 bytes by HKDF-SHA-256 (RFC 5869). */
export const deriveKey = (masterKey: Buffer, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `svc 2 ${purpose}`, 32))

/** The form of a wrapped value. */
const version = 'v2'

export const createWrapping = (masterKey: Buffer): Wrapping => {
  const key = deriveKey(masterKey, 'wrap')
  return {
    wrap: (plain, context) => {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
      const wrapped = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return [
        version,
        ...[nonce, cipher.getAuthTag(), wrapped].map((part) => part.toString('base64url')),
      ].join('.')
    },
    unwrap: (text, context) => {
      const [format, nonce, tag, wrapped] = text.split('.')
      if (format !== version || !nonce || !tag || wrapped === undefined)
        throw new Error('not a wrapped value')
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), {
        authTagLength: 16,
      })
      decipher.setAAD(Buffer.from(context)).setAuthTag(Buffer.from(tag, 'base64url'))
      return decipher.update(wrapped, 'base64url', 'utf8') + decipher.final('utf8')
    },
  }
}

export const opens = (
  { unwrap }: Pick<Wrapping, 'unwrap'>,
  wrapped: string,
  context: WrapContext,
): boolean => {
  try {
    unwrap(wrapped, context)
    return true
  } catch {
    return false
  }
}

const createRowMacs = (masterKey: Buffer): RowMacs => {
  const forRows = deriveKey(masterKey, 'rows')
  const forKeys = deriveKey(masterKey, 'api keys')
  const macOf: RowMacs['macOf'] = (table, row) =>
    createHmac('sha256', forRows).update(coveredText(table, row)).digest('base64url')
  return {
    macOf,
    holds: (table, row) => sameSecret(row.row_mac ?? '', macOf(table, row)),
    keyHash: (secretHash, row) =>
      createHmac('sha256', forKeys)
        .update(`${secretHash} ${coveredText('api_keys', row)}`)
        .digest('hex'),
  }
}

/** What a master key is used for directly: it wraps values and authenticates rows. */
export type MasterKeys = Wrapping & RowMacs

export const createMasterKeys = (masterKey: Buffer): MasterKeys => ({
  ...createWrapping(masterKey),
  ...createRowMacs(masterKey),
})
