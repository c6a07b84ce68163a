import { scopes as every, type Scope } from '../../contract/scopes.ts'
import { credentialText } from '../../core/credential-text.ts'
import { conflict, forbidden, Refusal } from '../../core/refusal.ts'

/**
 * The owner of a key. `orgId` null reaches every organization. `keyId` 0 is the bearer token of the tool server, which is
 * not a key of the store.
 */
export type Caller = {
  keyId: number
  /** The first secret of the key, if this one comes from a rotation. */
  lineage?: number | undefined
  name: string
  orgId: number | null
  scopes: ReadonlySet<Scope>
  /** The person who owns the key, if its creator set one. */
  ownerId?: number
  /** Whether that person confirmed it on their phone. */
  ownerConfirmed?: boolean
  expiresAt?: string
  /** Of a terminal: the device with which its owner signed in. */
  signedInWith?: number
  /** Of a terminal that was signed in with a code on another device (RFC 8628). */
  byCode?: true
  /** Of an agent: the mobile number of its owner, who consented to it. */
  agent?: { mobile: string }
  /** The signed-in person, at the approver page. */
  person?: Person
  /** Every session of the browser; unknown if the call named an organization. */
  sessions?: readonly SignedIn[]
  /** The cookies of the browser, also of sessions that do not count. */
  cookies?: readonly { token_hash: string; org_id: number }[]
}

/** The `keyId` of a person at the approver page. 0 and -1 have other meanings. */
export const keyOfPage = (device_id: number): number => -1 - device_id

/** The device of a person at the approver page, from their `keyId`. */
export const deviceOfPage = (keyId: number): number => -1 - keyId

/** The name of a program on this machine that needs no credential. */
export const localProgram = 'unauthenticated local program'

/** The row that identifies a key under any of its secrets: its requests stay its own after a rotation. */
export const namedKeyOf = ({ keyId, lineage = keyId }: Caller): number => lineage

/** The verified credential of a caller. Its owner is shown apart from it, because anybody can have a name. */
export const verifiedAs = ({ keyId, name, agent, person }: Caller): string => {
  if (person) return `member "${name}" on the approver page`
  if (keyId === 0) return name
  return credentialText(agent ? 'agent' : 'key', name)
}

export type Person = {
  user_id: number
  device_id: number
  session_id: number
  /** Whether the device signed for the session in the last minutes. */
  confirmed: boolean
  /** The cookie, which a call can set anew. */
  cookie: { name: string; token: string }
}

/** A person with the organization in which they are signed in. */
export type SignedIn = Person & { org_id: number }

/** The caller of an open operation, who reaches no organization. */
export const anonymousCaller: Caller = { keyId: -1, name: 'nobody', orgId: -1, scopes: new Set() }

/** A caller, and the slug of its organization for the tenant check. */
export type Authenticated = Caller & { orgSlug: string | null }

/** The root of trust: a caller of the whole service who has every scope. */
export const isOperator = ({ orgId, scopes }: Pick<Caller, 'orgId' | 'scopes'>): boolean =>
  orgId === null && every.every((scope) => scopes.has(scope))

/** Only for a complete key. A revoked key gets the answer of an unknown one, so a thief learns nothing. */
export const keyExpired = (at: string, { signedInWith }: Pick<Caller, 'signedInWith'>): Refusal =>
  signedInWith === undefined
    ? new Refusal(401, 'key_expired', `This key expired at ${at}`, {
        hint: 'Create another key: svc key create',
      })
    : new Refusal(401, 'signed_out', `The sign-in ended at ${at}; what it asked for is kept`, {
        hint: 'Sign in again: svc profile login',
      })

export const sessionOver = (): Refusal =>
  new Refusal(401, 'session_over', 'This device has no session, or the session has ended', {
    hint: 'Sign in again on the approver page. A device that is no longer registered needs a new link',
  })

export const signatureRequired = (): Refusal =>
  forbidden(
    'signature_required',
    'The device of this session did not sign in the last minutes',
    'Confirm on the approver page that it is you',
  )

/** The person at the approver page. Throws 401 for any other caller. */
export const requirePerson = ({ person, orgId }: Caller): SignedIn => {
  if (!person || orgId === null) throw sessionOver()
  return { ...person, org_id: orgId }
}

/**
 * The person who is signed in on a terminal. Throws 403 for any other key: `act` is what only a person can do, as the end of
 * a sentence.
 */
export const requireTerminal = (
  { orgId, ownerId, signedInWith }: Caller,
  act: string,
  hint = 'Sign in: svc profile login',
): { org_id: number; user_id: number } => {
  if (orgId === null || ownerId === undefined || signedInWith === undefined)
    throw forbidden('not_signed_in', `Nobody is signed in with this key, and only a person can ${act}`, hint)
  return { org_id: orgId, user_id: ownerId }
}

/** The person who confirmed that the calling key is theirs. Throws 409 `key_without_owner` for any other key. */
export const requireOwner = ({ keyId, ownerId, ownerConfirmed }: Caller): number => {
  if (ownerId !== undefined && ownerConfirmed === true) return ownerId
  const confirm = `. Or let its owner confirm it: svc key confirm-owner ${keyId}`
  throw conflict(
    'key_without_owner',
    'No person confirmed that the key in use is theirs, so whose keys are meant is not known',
    `Sign in: svc profile login${ownerId === undefined ? '' : confirm}`,
  )
}

/** The name of a person at the approver page in the audit. */
export const actorAt = ({ user_id, device_id }: Pick<Person, 'user_id' | 'device_id'>): string =>
  `user:${user_id} (device ${device_id})`

/** The name of a key in the audit, which cannot be taken for a person. */
export const actorOfKey = (name: string, keyId: number): string =>
  `${name.startsWith('user:') ? JSON.stringify(name) : name} (key ${keyId})`

/** The name of a person who is signed in on a terminal, in the audit. */
export const actorOnTerminal = (user_id: number, keyId: number): string => `user:${user_id} (key ${keyId})`
