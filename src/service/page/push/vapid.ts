import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import type { Keyring } from '../../call/keyring.ts'
import { keepSetting, readSetting } from '../../storage/settings.ts'
import type { Storage } from '../../storage/storage.ts'

export type Vapid = {
  /** The public key with which pages subscribe: the point, base64url. */
  key: string
  /** The `Authorization` header for a push service (RFC 8292). `at` is now, ISO. */
  authorize(endpoint: string, publicUrl: string, at: string): Promise<string>
}

const setting = 'vapid'
const tokenSeconds = 12 * 60 * 60

/** Creates the key of a store, once: a subscription is valid for one key only. */
const createKey = async (storage: Storage, { wrap }: Keyring): Promise<string> => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const value = wrap(JSON.stringify(await exportJWK(privateKey)), setting)
  return storage.write((db) => keepSetting(db, setting, value), { org: 0 })
}

const pointOf = ({ x, y }: JWK): string =>
  Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]).toString(
    'base64url',
  )

/** The contact for a push service, which accepts https and mailto only. */
const contactOf = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? publicUrl : 'mailto:svc@localhost'

/** The key that identifies this service to push services. Created at the first start, and wrapped in the store. */
export const createVapid = async (storage: Storage, keyring: Keyring): Promise<Vapid> => {
  const wrapped =
    (await storage.read((db) => readSetting(db, setting))) ?? (await createKey(storage, keyring))
  const jwk = JSON.parse(keyring.unwrap(wrapped, setting)) as JWK
  const signingKey = await importJWK(jwk, 'ES256')
  const key = pointOf(jwk)
  return {
    key,
    authorize: async (endpoint, publicUrl, at) => {
      const expires = Math.floor(Date.parse(at) / 1000) + tokenSeconds
      const token = await new SignJWT({ sub: contactOf(publicUrl) })
        .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
        .setAudience(new URL(endpoint).origin)
        .setExpirationTime(expires)
        .sign(signingKey)
      return `vapid t=${token}, k=${key}`
    },
  }
}
