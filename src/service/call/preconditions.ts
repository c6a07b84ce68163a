import { sql } from 'kysely'
import { Refusal } from '../../core/refusal.ts'
import type { Db } from '../storage/schema.ts'
import { statement } from '../storage/statement.ts'
import { type Caller, keyExpired, sessionOver } from './caller.ts'
import { ofLiveSignIn } from './sign-in.ts'

/** What a write reads before anything else, together with the lock of its organization. */
export type Preconditions = {
  /** The organization that the write named. */
  orgId: number
  /** When the calling key expires; null if the key is revoked or the caller has none. */
  keyExpiresAt: string | null
  /** When the session of the calling person expires; null if it has ended or the caller has none. */
  sessionExpiresAt: string | null
  /** Whether the store has rules or groups of the organization; null without an organization. */
  hasRules: 0 | 1 | null
}

const never = '9999-12-31T23:59:59.999Z'

type Wanted = { keyId: number; sessionId: number; orgId: number }

const read = statement((db, { keyId, sessionId, orgId }: Wanted) =>
  db.selectNoFrom(({ selectFrom }) => [
    selectFrom('api_keys')
      .where('id', '=', keyId)
      .where('revoked_at', 'is', null)
      .where(ofLiveSignIn('api_keys'))
      .select(({ fn }) => fn.coalesce('expires_at', sql.lit(never)).as('until'))
      .as('keyExpiresAt'),
    selectFrom('approver_sessions').where('id', '=', sessionId).select('expires_at').as('sessionExpiresAt'),
    selectFrom('organizations as o')
      .where('o.id', '=', orgId)
      .select(
        sql<0 | 1>`case when exists (select 1 from rule_heads where org_id = o.id) then 1 else 0 end`.as(
          'had',
        ),
      )
      .as('hasRules'),
  ]),
)

export const readPreconditions = async (
  db: Db,
  { keyId, person }: Caller,
  orgId: number,
): Promise<Preconditions> => {
  const [row] = (await read(db, { keyId, sessionId: person?.session_id ?? 0, orgId })).rows
  return { orgId, ...row! }
}

export const unauthenticated = (): Refusal =>
  new Refusal(401, 'unauthenticated', 'The header x-api-key is missing, or its key is not valid', {
    hint: 'Send a key that is neither revoked nor expired in the header x-api-key',
  })

/**
 * Checks the key or the session of a caller again in the transaction of a write: it may have ended while the body of the
 * request arrived. Throws 401.
 */
export const requireLiveCaller = (
  { keyExpiresAt, sessionExpiresAt }: Pick<Preconditions, 'keyExpiresAt' | 'sessionExpiresAt'>,
  caller: Caller,
  now: string,
): void => {
  const { keyId, person } = caller
  if (person) {
    if (sessionExpiresAt === null || sessionExpiresAt <= now) throw sessionOver()
    return
  }
  // Some callers have no key in the store, such as the bearer of the tool server.
  if (keyId <= 0) return
  if (keyExpiresAt === null) throw unauthenticated()
  if (keyExpiresAt <= now) throw keyExpired(keyExpiresAt, caller)
}
