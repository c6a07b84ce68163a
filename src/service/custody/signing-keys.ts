import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { Refusal } from '../../core/refusal.ts'
import type { Keyring, RowMacs, Wrapping } from '../call/keyring.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'

const algorithm = 'EdDSA'

/** A new signing key. It is generated outside of the transaction that inserts it. */
export const makeSigningKey = async () => {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { crv: 'Ed25519', extractable: true })
  const publicJwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(publicJwk)
  return {
    kid,
    public_jwk: JSON.stringify({ ...publicJwk, kid, alg: algorithm, use: 'sig' }),
    private_jwk: JSON.stringify(await exportJWK(privateKey)),
  }
}
export type NewSigningKey = Awaited<ReturnType<typeof makeSigningKey>>

export const insertSigningKey = async (
  db: Db,
  { wrap, macOf }: Wrapping & RowMacs,
  { kid, public_jwk, private_jwk }: NewSigningKey,
  created_at: string,
): Promise<void> => {
  const row = { kid, public_jwk, created_at, retired_at: null }
  const wrapped_jwk = wrap(private_jwk, `signing_keys:${kid}`)
  const row_mac = macOf('signing_keys', row)
  await db
    .insertInto('signing_keys')
    .values({ ...row, wrapped_jwk, row_mac })
    .execute()
}

export const readSigningKeys = (db: Db) =>
  db.selectFrom('signing_keys').selectAll().orderBy('created_at', 'desc').orderBy('kid').execute()

const noSigningKey = (): Refusal =>
  new Refusal(503, 'no_signing_key', 'The store has no active signing key that is authentic', {
    hint: 'Another program has changed the store. Its operator restores a backup, or makes a new key: svc service rotate-signing-key',
  })

/**
 * Signs and shows its public keys from the store as it is now: a rotation counts at once, and so does a row that another
 * program has changed, which is never used.
 */
export const createSigner = (
  storage: Storage,
  { unwrap, holds }: Wrapping & RowMacs,
): Pick<Keyring, 'sign' | 'jwks'> => {
  let last: { kid: string; key: ReturnType<typeof importJWK> } | undefined

  const authentic = async () =>
    (await storage.read(readSigningKeys)).filter((row) => holds('signing_keys', row))

  return {
    sign: async (claims, typ) => {
      const active = (await authentic()).find(({ retired_at }) => retired_at === null)
      if (!active) throw noSigningKey()
      const { kid, wrapped_jwk } = active
      if (last?.kid !== kid)
        last = {
          kid,
          key: importJWK(JSON.parse(unwrap(wrapped_jwk, `signing_keys:${kid}`)) as JWK, algorithm),
        }
      return new SignJWT(claims).setProtectedHeader({ alg: algorithm, typ, kid }).sign(await last.key)
    },
    jwks: async () => ({
      keys: (await authentic()).map((row) => JSON.parse(row.public_jwk) as Record<string, unknown>),
    }),
  }
}
