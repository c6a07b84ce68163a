import type { Operation } from '../../contract/operation.ts'
import { scopes as every, type Scope } from '../../contract/scopes.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Caller } from '../call/caller.ts'

/** Scopes as `api_keys` stores them: in the order of the contract, so that equal sets have equal texts. */
export const scopesText = (scopes: Iterable<Scope>): string => {
  const granted = new Set(scopes)
  return every.filter((scope) => granted.has(scope)).join(',')
}

/** The scopes of a row; an unknown word grants nothing. */
export const readScopes = (text: string): Set<Scope> => {
  const words = new Set(text.split(','))
  return new Set(every.filter((scope) => words.has(scope)))
}

export const everyScope = scopesText(every)

/** Whether a row of `api_keys` is the root of trust: a key of the whole service with every scope. */
export const isOperatorKey = ({ org_id, scopes }: { org_id: number | null; scopes: string }): boolean =>
  org_id === null && scopes === everyScope

const quoted = (scopes: readonly Scope[]): string => scopes.map((scope) => `"${scope}"`).join(' or ')

export const operatorHint = 'Use the key of the operator (SVC_API_KEY or its profile)'

/** A key that cannot create keys would only be refused again, and a person without such a key has nobody to give them one. */
const helpWith = ({ scopes, signedInWith }: Caller, accepted: readonly Scope[]): string => {
  if (signedInWith !== undefined && !scopes.has('keys'))
    return 'Ask an administrator to do it. Whoever is one signs in: svc profile login'
  return accepted.includes('keys')
    ? 'Use a key with the scope keys'
    : `To create another key: svc key create --can ${accepted[0]}`
}

export const scopeMissing = (caller: Caller, ...accepted: Scope[]): Refusal =>
  new Refusal(403, 'scope_missing', `This key cannot do that: it requires the scope ${quoted(accepted)}`, {
    hint: `This key has the scopes: ${scopesText(caller.scopes) || 'none'}. ${helpWith(caller, accepted)}`,
  })

/** Throws 403 `scope_missing` unless the caller has one of the scopes that the operation accepts. */
export const requireScope = ({ scope, operator }: Pick<Operation, 'scope' | 'operator'>, caller: Caller) => {
  const accepted = typeof scope === 'string' ? [scope] : (scope ?? [])
  if (accepted.some((one) => caller.scopes.has(one))) return
  const missing = scopeMissing(caller, ...accepted)
  // No key that could be created would be enough.
  throw operator ? new Refusal(403, missing.code, missing.message, { hint: operatorHint }) : missing
}
