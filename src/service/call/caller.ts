import { scopes as every, type Scope } from '../../contract/scopes.ts'
import { Refusal } from '../../core/refusal.ts'

/**
 * Whose key it is. `orgId` null reaches every organization; `keyId` 0 is the bearer of the tool server, which is not a key
 * of the store.
 */
export type Caller = {
  keyId: number
  /** Of a secret that a rotation made: the first one of its key. */
  lineage?: number | undefined
  name: string
  orgId: number | null
  scopes: ReadonlySet<Scope>
  /** The person whose key it is, where its creator said so. */
  ownerId?: number
  /** When the key expires, where it does. */
  expiresAt?: string
  /** At the approver page: the person, and with what. */
  person?: Person
}

/** The key as it is named, whichever of its secrets is shown: what it asked stays its own after a rotation. */
export const namedKeyOf = ({ keyId, lineage = keyId }: Caller): number => lineage

/** What the credential of a caller proves, as an approver reads it. */
export const verifiedAs = ({ keyId, name }: Caller): string => (keyId === 0 ? name : `key "${name}"`)

export type Person = { user_id: number; device_id: number; session_id: number }

/** Who calls an open operation: reaches no organization and is no requester. */
export const nobody: Caller = { keyId: -1, name: 'nobody', orgId: -1, scopes: new Set() }

/** A caller, and the slug of its organization for the tenant guard. */
export type Authenticated = Caller & { orgSlug: string | null }

/** The root of trust: a caller of the whole service who has every scope. */
export const isOperator = ({ orgId, scopes }: Pick<Caller, 'orgId' | 'scopes'>): boolean =>
  orgId === null && every.every((scope) => scopes.has(scope))

export const sessionOver = (): Refusal =>
  new Refusal(401, 'session_over', 'No session is open on this device, or it has ended', {
    hint: 'Open it again with the device check; who is not registered any more asks for a new link',
  })

/** Who stands at the page. Fails with 401 for any other caller. */
export const requirePerson = ({ person, orgId }: Caller): Person & { org_id: number } => {
  if (!person || orgId === null) throw sessionOver()
  return { ...person, org_id: orgId }
}

/** As the audit names who stands at the page. */
export const actorAt = ({ user_id, device_id }: Omit<Person, 'session_id'>): string =>
  `user:${user_id} (device ${device_id})`
