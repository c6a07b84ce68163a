import type { Scope } from '../../contract/scopes.ts'
import { invalid, Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { type Caller, isOperator, namedKeyOf } from '../call/caller.ts'
import { ancestorsOf } from './ancestry.ts'
import { scopesText } from './scopes.ts'

/** Refuses scopes that the caller lacks: no key creates, or gets the secret of, a stronger one. */
export const checkGrant = (caller: Caller, scopes: Iterable<Scope>): void => {
  const missing = [...scopes].filter((scope) => !caller.scopes.has(scope))
  if (missing.length === 0) return
  throw new Refusal(
    403,
    'scope_missing',
    `This key cannot grant ${missing.map((scope) => `"${scope}"`).join(' and ')}, because it does not have ${missing.length === 1 ? 'it' : 'them'}`,
    { hint: `It can grant: ${scopesText(caller.scopes)}` },
  )
}

/** A key ends with the key that created it, at the latest. */
export const checkExpiry = ({ caller, now }: Call, expires_at: string | undefined): void => {
  if (expires_at !== undefined && expires_at <= now) throw invalid('expires_at', 'must be in the future')
  if (caller.expiresAt === undefined) return
  if (expires_at === undefined || expires_at > caller.expiresAt)
    throw invalid('expires_at', `must not be after ${caller.expiresAt}, when the key in use expires`)
}

/** The owner is an active member of the organization; for a key of the whole service, any user. */
export const checkOwner = async (
  { db }: Call,
  orgId: number | null,
  owner: number | undefined,
): Promise<void> => {
  if (owner === undefined) return
  const found = await db
    .selectFrom('memberships')
    .where('user_id', '=', owner)
    .where('state', '=', 'active')
    .$if(orgId !== null, (query) => query.where('org_id', '=', orgId!))
    .select('user_id')
    .executeTakeFirst()
  if (found) return
  throw invalid('owner_user_id', `must be an active member of ${orgId === null ? 'an' : 'the'} organization`)
}

/**
 * Whoever rotates a key is shown its new secret, so a key rotates itself and the keys that it created, directly or not. The
 * operator rotates every key.
 */
export const checkRotation = async (
  call: Call,
  { id, lineage }: { id: number; lineage: number | null },
): Promise<void> => {
  const [own, root] = [namedKeyOf(call.caller), lineage ?? id]
  if (isOperator(call.caller) || root === own) return
  if (((await ancestorsOf(call, root)) ?? []).includes(own)) return
  throw new Refusal(403, 'not_your_key', 'A key rotates itself and the keys that it created, and no other', {
    hint: 'Use that key itself, or an operator key; svc key revoke ends a key of the organization',
  })
}
