import { Refusal } from '../../core/refusal.ts'
import type { Scope } from '../../contract/scopes.ts'
import type { Keyring } from '../call/keyring.ts'

// What travels through the browser between the steps of an authorization. The master key wraps it, so that every node can
// read it and no one else can create one; the store contains only what was used.

/** An installation of svc that a person signs in. Its name of the machine is a claim. */
export type Terminal = {
  installation: string
  host: string
  /** Of one without a browser: the SHA-256 of its device code, that of the code its person types, and the address that it asked from. */
  device?: { hash: string; code_hash: string; address: string | null }
}

/** A checked authorization request of a client. */
export type AuthorizationRequest = {
  client_id: string
  /** The name that the client claims. */
  client_name: string
  redirect_uri: string
  code_challenge: string
  resource: string
  /** What it asks to be able to do; a person gives at most what they can do themselves. */
  scopes: readonly Scope[]
  terminal?: Terminal | undefined
  state?: string | undefined
  expires_at: string
}

/** What a person consented to; an authorization code contains it. */
export type Grant = Omit<AuthorizationRequest, 'state'> & {
  org_id: number
  user_id: number
  device_id: number
  name: string
}

/** How long a person has to decide, and a client to exchange its code. */
export const lifetimeMs = { request: 10 * 60_000, code: 60_000 }

type Kinds = { 'authorization request': AuthorizationRequest; 'authorization code': Grant }
type Kind = keyof Kinds

export const seal = <K extends Kind>({ wrap }: Pick<Keyring, 'wrap'>, kind: K, value: Kinds[K]): string =>
  Buffer.from(wrap(JSON.stringify(value), kind)).toString('base64url')

/** Undefined for a value that has expired or that this service did not create. */
export const unseal = <K extends Kind>(
  { unwrap }: Pick<Keyring, 'unwrap'>,
  kind: K,
  text: string,
  now: string,
): Kinds[K] | undefined => {
  try {
    const value = JSON.parse(unwrap(Buffer.from(text, 'base64url').toString(), kind)) as Kinds[K]
    return value.expires_at > now ? value : undefined
  } catch {
    return undefined
  }
}

/** Throws 410 for a request that has expired or is not one of this service. */
export const openRequest = (
  keyring: Pick<Keyring, 'unwrap'>,
  text: string,
  now: string,
): AuthorizationRequest => {
  const request = unseal(keyring, 'authorization request', text, now)
  if (request) return request
  throw new Refusal(410, 'authorization_over', 'This request for access has expired or is not valid', {
    hint: 'Connect again in the client',
  })
}

/** Where the browser goes with the result. `iss` names this service, against a mix-up of two (RFC 9207). */
export const redirectWith = (
  { redirect_uri, state }: Pick<AuthorizationRequest, 'redirect_uri' | 'state'>,
  issuer: string,
  result: { code: string } | { error: string; error_description: string },
): string => {
  const url = new URL(redirect_uri)
  for (const [name, value] of Object.entries(result)) url.searchParams.append(name, value)
  if (state !== undefined) url.searchParams.append('state', state)
  url.searchParams.append('iss', issuer)
  return url.href
}
