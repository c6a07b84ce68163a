import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from 'jose'
import { SvcError } from '../core/errors.ts'
import type { Keyring } from './keyring.ts'
import type { Storage } from './storage/storage.ts'

const version = 'v1'

const wrapWith =
  (masterKey: Buffer): Keyring['wrap'] =>
  (plain, context) => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
    return [version, nonce, cipher.getAuthTag(), sealed]
      .map((part) => (typeof part === 'string' ? part : part.toString('base64url')))
      .join('.')
  }

const unwrapWith =
  (masterKey: Buffer): Keyring['unwrap'] =>
  (wrapped, context) => {
    const [format, nonce, tag, sealed] = wrapped.split('.')
    if (format !== version || !nonce || !tag || sealed === undefined) throw new Error('not a wrapped secret')
    const decipher = createDecipheriv('aes-256-gcm', masterKey, Buffer.from(nonce, 'base64url'), {
      authTagLength: 16,
    })
    decipher.setAAD(Buffer.from(context)).setAuthTag(Buffer.from(tag, 'base64url'))
    return decipher.update(sealed, 'base64url', 'utf8') + decipher.final('utf8')
  }

const contextOf = (kid: string): string => `signing_keys:${kid}`

const makeSigningKey = async (storage: Storage, wrap: Keyring['wrap']): Promise<void> => {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  const publicJwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(publicJwk)
  const wrapped_jwk = wrap(JSON.stringify(await exportJWK(privateKey)), contextOf(kid))
  const public_jwk = JSON.stringify({ ...publicJwk, kid, alg: 'EdDSA', use: 'sig' })
  await storage.write((db) =>
    db
      .insertInto('signing_keys')
      .values({ kid, public_jwk, wrapped_jwk, created_at: storage.now(), retired_at: null })
      .execute(),
  )
}

const readSigningKeys = (storage: Storage) =>
  storage.read((db) => db.selectFrom('signing_keys').selectAll().orderBy('created_at', 'desc').execute())

/** Whether this store has secrets that a master key wraps. */
export const hasSigningKey = async (storage: Storage): Promise<boolean> =>
  (await readSigningKeys(storage)).length > 0

/** The keyring of a store; its signing key is made at the first start. Fails with an SvcError when the master key is not the one of this store. */
export const createKeyring = async (storage: Storage, masterKey: Buffer): Promise<Keyring> => {
  const wrap = wrapWith(masterKey)
  const unwrap = unwrapWith(masterKey)
  let rows = await readSigningKeys(storage)
  if (!rows.some((row) => row.retired_at === null)) {
    await makeSigningKey(storage, wrap)
    rows = await readSigningKeys(storage)
  }
  const active = rows.find((row) => row.retired_at === null)!
  let privateJwk: JWK
  try {
    privateJwk = JSON.parse(unwrap(active.wrapped_jwk, contextOf(active.kid)))
  } catch {
    throw new SvcError(
      'failed',
      'wrong_master_key',
      'The master key is not the one that this store was made with',
      {
        hint: 'Use the master key of this data folder (SVC_MASTER_KEY, or its file master.key), or restore a backup that holds it: svc service restore BACKUP.db --data-dir NEWFOLDER',
      },
    )
  }
  const signingKey = await importJWK(privateJwk, 'EdDSA')
  const keys = rows.map((row) => JSON.parse(row.public_jwk) as Record<string, unknown>)
  return {
    wrap,
    unwrap,
    sign: (claims, typ) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ, kid: active.kid }).sign(signingKey),
    jwks: () => ({ keys }),
  }
}
