import { sql } from 'kysely'
import { Refusal } from '../../core/refusal.ts'
import type { Db } from '../storage/schema.ts'
import { statement } from '../storage/statement.ts'
import type { Caller } from './caller.ts'

/** What a write reads before anything else, together with the lock of its organization. */
export type Preconditions = {
  /** The organization that the write named. */
  orgId: number
  /** When the calling key expires; null if the key is revoked or the caller has none. */
  keyExpiresAt: string | null
  /** The policy of the organization if it may have approval rules, '' if it has none; null without an organization. */
  policyWithRules: string | null
}

const never = '9999-12-31T23:59:59.999Z'

const read = statement((db, { keyId, orgId }: { keyId: number; orgId: number }) =>
  db.selectNoFrom(({ selectFrom }) => [
    selectFrom('api_keys')
      .where('id', '=', keyId)
      .where('revoked_at', 'is', null)
      .select(({ fn }) => fn.coalesce('expires_at', sql.lit(never)).as('until'))
      .as('keyExpiresAt'),
    selectFrom('organizations')
      .where('id', '=', orgId)
      .select(sql<string>`case when policy like '%"require_approval"%' then policy else '' end`.as('policy'))
      .as('policyWithRules'),
  ]),
)

export const readPreconditions = async (db: Db, keyId: number, orgId: number): Promise<Preconditions> => {
  const [row] = (await read(db, { keyId, orgId })).rows
  return { orgId, keyExpiresAt: row!.keyExpiresAt, policyWithRules: row!.policyWithRules }
}

export const unauthenticated = (): Refusal =>
  new Refusal(401, 'unauthenticated', 'The header x-api-key is missing, or its key is not valid', {
    hint: 'Send a key that is neither revoked nor expired in the header x-api-key',
  })

/**
 * Checks the key of a caller again in the transaction of a write: it may have been revoked, or have expired, while the body
 * of the request arrived. Throws 401 `unauthenticated`.
 */
export const requireLiveKey = (
  { keyExpiresAt }: Pick<Preconditions, 'keyExpiresAt'>,
  { keyId, person }: Caller,
  now: string,
): void => {
  // The approver page and the bearer of the tool server have no key in the store.
  if (keyId <= 0 || person) return
  if (keyExpiresAt === null || keyExpiresAt <= now) throw unauthenticated()
}
