import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type JsonWebKey,
} from 'node:crypto'
import { encodeCBOR, type CBORType } from '@levischuck/tiny-cbor'

/** A passkey in a file: a real key with real assertions, but without hardware or a person. */
export type SoftwareKey = {
  credential_id: string
  alg: 'ES256' | 'EdDSA'
  private_jwk: JsonWebKey
  /** COSE_Key, base64url. */
  public_key_cose: string
  /** Always 0, as for synced passkeys. */
  sign_count: 0
  rp_id: string
  user_handle: string
}

export type Ceremony = { challenge: string; origin: string; rpId: string }

/** Identifies a software key: the ASCII bytes of `svc-software-key`. */
export const softwareAaguid = '7376632d-736f-6674-7761-72652d6b6579'

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
const bytes = (text: string | undefined): Uint8Array => new Uint8Array(Buffer.from(text ?? '', 'base64url'))
const coseAlgorithms = { ES256: -7, EdDSA: -8 } as const

const coseKey = ({ x, y }: JsonWebKey, alg: SoftwareKey['alg']): string => {
  const [kty, crv] = alg === 'ES256' ? [2, 1] : [1, 6]
  // kty, alg, crv, x (and y), in the order of CTAP2's canonical CBOR.
  const key = new Map<number, number | Uint8Array>().set(1, kty).set(3, coseAlgorithms[alg]).set(-1, crv)
  key.set(-2, bytes(x))
  if (y !== undefined) key.set(-3, bytes(y))
  return base64url(encodeCBOR(key))
}

/** `userHandle` is the base64url handle from the service; random by default. */
export const createSoftwareKey = (
  alg: SoftwareKey['alg'],
  { rpId, userHandle = base64url(randomBytes(16)) }: { rpId: string; userHandle?: string },
): SoftwareKey => {
  const { privateKey } =
    alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519')
  const private_jwk = privateKey.export({ format: 'jwk' })
  return {
    credential_id: base64url(randomBytes(32)),
    alg,
    private_jwk,
    public_key_cose: coseKey(private_jwk, alg),
    sign_count: 0,
    rp_id: rpId,
    user_handle: userHandle,
  }
}

const flags = { userPresent: 1, userVerified: 4, attestedCredential: 64 }

const authenticatorData = (rpId: string, flagBits: number, attested: Uint8Array[] = []): Uint8Array => {
  const hash = createHash('sha256').update(rpId).digest()
  return new Uint8Array(Buffer.concat([hash, Buffer.from([flagBits, 0, 0, 0, 0]), ...attested]))
}

/** The client's part: it states its origin, and uses a key only on the site of the key. */
const clientData = (key: SoftwareKey, type: string, { challenge, origin, rpId }: Ceremony): Uint8Array => {
  const { hostname } = new URL(origin)
  if (rpId !== key.rp_id || (hostname !== rpId && !hostname.endsWith(`.${rpId}`)))
    throw new Error(`This key belongs to ${key.rp_id} and cannot sign for ${origin}`)
  return new TextEncoder().encode(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}

/** The authenticator's part: DER for ES256, 64 bytes for EdDSA. */
export const signAssertion = (key: SoftwareKey, data: Uint8Array, clientDataJson: Uint8Array): Uint8Array => {
  const signed = Buffer.concat([data, createHash('sha256').update(clientDataJson).digest()])
  const privateKey = createPrivateKey({ key: key.private_jwk, format: 'jwk' })
  return new Uint8Array(sign(key.alg === 'ES256' ? 'sha256' : null, signed, privateKey))
}

/** The fields that a browser adds to every response of a key. */
const credentialOf = ({ credential_id }: SoftwareKey) => ({
  id: credential_id,
  rawId: credential_id,
  type: 'public-key' as const,
  authenticatorAttachment: 'platform' as const,
  clientExtensionResults: {},
})

/** Registers the key with attestation `none`. Throws if the site is not that of the key. */
export const register = (key: SoftwareKey, ceremony: Ceremony) => {
  const id = bytes(key.credential_id)
  const data = authenticatorData(
    key.rp_id,
    flags.userPresent | flags.userVerified | flags.attestedCredential,
    [
      Buffer.from(softwareAaguid.replaceAll('-', ''), 'hex'),
      new Uint8Array([id.length >> 8, id.length & 255]),
      id,
      bytes(key.public_key_cose),
    ],
  )
  const attestation = new Map<string, CBORType>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', data],
  ])
  return {
    ...credentialOf(key),
    response: {
      clientDataJSON: base64url(clientData(key, 'webauthn.create', ceremony)),
      attestationObject: base64url(encodeCBOR(attestation)),
      authenticatorData: base64url(data),
      transports: ['internal'],
      publicKeyAlgorithm: coseAlgorithms[key.alg],
    },
  }
}

/** Signs a challenge. `userVerified` states that the caller has confirmed. Throws if the site is not that of the key. */
export const assert = (key: SoftwareKey, ceremony: Ceremony, userVerified = true) => {
  const data = authenticatorData(key.rp_id, flags.userPresent | (userVerified ? flags.userVerified : 0))
  const client = clientData(key, 'webauthn.get', ceremony)
  return {
    ...credentialOf(key),
    response: {
      authenticatorData: base64url(data),
      clientDataJSON: base64url(client),
      signature: base64url(signAssertion(key, data, client)),
      userHandle: key.user_handle,
    },
  }
}
