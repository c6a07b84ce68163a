import { createPrivateKey, type JsonWebKey, type KeyObject, sign } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { SvcError } from '../../core/errors.ts'
import { Refusal } from '../../core/refusal.ts'
import { auditByService } from '../call/audit.ts'
import type { Keyring, RowMacs, Wrapping } from '../call/keyring.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'

const algorithm = 'EdDSA'

/** Creates a signing key. Called outside of the transaction that inserts it. */
export const createSigningKey = async () => {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { crv: 'Ed25519', extractable: true })
  const publicJwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(publicJwk)
  return {
    kid,
    public_jwk: JSON.stringify({ ...publicJwk, kid, alg: algorithm, use: 'sig' }),
    private_jwk: JSON.stringify(await exportJWK(privateKey)),
  }
}

export const insertSigningKey = async (
  db: Db,
  { wrap, macOf }: Wrapping & RowMacs,
  { kid, public_jwk, private_jwk }: Awaited<ReturnType<typeof createSigningKey>>,
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

/**
 * Reads the store for each signature and each list of public keys, so that a rotation takes effect immediately and a row
 * that another program has changed is never used.
 */
export const createSigner = (
  storage: Storage,
  { unwrap, holds }: Wrapping & RowMacs,
): Pick<Keyring, 'sign' | 'jwks'> => {
  let last: { kid: string; key: KeyObject } | undefined

  const authentic = async (db?: Db) =>
    (await (db ? readSigningKeys(db) : storage.read(readSigningKeys))).filter((row) =>
      holds('signing_keys', row),
    )

  return {
    sign: async (claims, typ, db) => {
      const active = (await authentic(db)).find(({ retired_at }) => retired_at === null)
      if (!active)
        throw new Refusal(503, 'no_signing_key', 'The store has no active signing key that is authentic', {
          hint: 'Another program has changed the store. Restore a backup, or create a new key: svc service rotate-signing-key',
        })
      const { kid, wrapped_jwk } = active
      if (last?.kid !== kid) {
        const jwk = JSON.parse(unwrap(wrapped_jwk, `signing_keys:${kid}`)) as JsonWebKey
        last = { kid, key: createPrivateKey({ key: jwk, format: 'jwk' }) }
      }
      const encoded = [{ alg: algorithm, typ, kid }, claims].map((part) =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      )
      // RFC 7515, section 7.1. In one step, because it also runs inside a transaction.
      const input = encoded.join('.')
      return `${input}.${sign(null, Buffer.from(input), last.key).toString('base64url')}`
    },
    jwks: async () => ({
      keys: (await authentic()).map((row) => JSON.parse(row.public_jwk) as Record<string, unknown>),
    }),
  }
}

export type RotatedSigningKey = {
  /** The key that signs now. */
  kid: string
  /** The keys that only verify from now on. */
  retired: string[]
  /** False if `from` had already been replaced: nothing was changed. */
  rotated: boolean
}

/**
 * Retires the key that signs and creates another, in one transaction. A running service uses it for its next signature
 * and publishes both. With `from`, only if that key is active, so that a repeated command rotates once.
 */
export const rotateSigningKey = async (
  { storage, keyring }: { storage: Storage; keyring: Keyring },
  from?: string,
): Promise<RotatedSigningKey> => {
  const created = await createSigningKey()
  return storage.write(
    async (db) => {
      const now = storage.now()
      const authentic = (await readSigningKeys(db)).filter((row) => keyring.holds('signing_keys', row))
      const active = authentic.filter(({ retired_at }) => retired_at === null)
      if (from !== undefined && !active.some(({ kid }) => kid === from)) {
        if (!authentic.some(({ kid }) => kid === from))
          throw new SvcError('notFound', 'no_signing_key', `The store has no authentic signing key ${from}`, {
            hint: 'Find the kid of the active key in the header of a new receipt, or in /.well-known/jwks.json',
          })
        return { kid: active[0]!.kid, retired: [], rotated: false }
      }
      for (const row of active) {
        const row_mac = keyring.macOf('signing_keys', { ...row, retired_at: now })
        await db
          .updateTable('signing_keys')
          .set({ retired_at: now, row_mac })
          .where('kid', '=', row.kid)
          .execute()
      }
      await insertSigningKey(db, keyring, created, now)
      const retired = active.map(({ kid }) => kid)
      await auditByService({ db, keyring }, now, {
        orgId: 0,
        action: 'rotateSigningKey',
        subject: `signing_key:${created.kid}`,
        changes: retired.map((kid) => `retired:${kid}`),
      })
      return { kid: created.kid, retired, rotated: true }
    },
    { org: 0 },
  )
}
