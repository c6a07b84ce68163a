import type { Operation } from '../../contract/operation.ts'
import { scopes as every, type Scope } from '../../contract/scopes.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Caller } from '../call/caller.ts'

/** How a row of `api_keys` keeps scopes: in the order of the contract, so that one set has one text. */
export const scopesText = (scopes: Iterable<Scope>): string => {
  const given = new Set(scopes)
  return every.filter((scope) => given.has(scope)).join(',')
}

/** The scopes of a row; a word that is no scope grants nothing. */
export const readScopes = (text: string): Set<Scope> => {
  const words = new Set(text.split(','))
  return new Set(every.filter((scope) => words.has(scope)))
}

export const everyScope = scopesText(every)

/** The root of trust: a key of no organization that has every scope. Of a row of `api_keys`. */
export const isOperatorKey = ({ org_id, scopes }: { org_id: number | null; scopes: string }): boolean =>
  org_id === null && scopes === everyScope

const quoted = (scopes: readonly Scope[]): string => scopes.map((scope) => `"${scope}"`).join(' or ')

export const scopeMissing = ({ scopes: held }: Caller, ...wanted: Scope[]): Refusal =>
  new Refusal(403, 'scope_missing', `This key cannot do that: it requires the scope ${quoted(wanted)}`, {
    hint: `This key has the scopes: ${scopesText(held) || 'none'}. To create another key: svc key create --can ${wanted[0]}`,
  })

/** Fails with 403 `scope_missing` unless the caller has one of the scopes that the operation accepts. */
export const requireScope = ({ scope }: Pick<Operation, 'scope'>, caller: Caller): void => {
  const accepted = typeof scope === 'string' ? [scope] : (scope ?? [])
  if (!accepted.some((one) => caller.scopes.has(one))) throw scopeMissing(caller, ...accepted)
}
