import { SvcError } from '../core/errors.ts'
import { sha256 } from '../core/ids.ts'
import { expireDue } from './approvals/expiry.ts'
import { appendAudit } from './audit.ts'
import { newSecret, prefixOf } from './keys.ts'
import { everyScope } from './keys/scopes.ts'
import type { Db } from './storage/schema.ts'
import type { Storage } from './storage/storage.ts'

const byService = (now: string, action: string, subject: string) => ({
  orgId: 0,
  at: now,
  actor: 'service',
  action,
  subject,
  changes: [],
  requestId: '-',
})

const addOperatorKey = async (
  db: Db,
  secret: { prefix: string; hash: string },
  now: string,
  action: string,
): Promise<void> => {
  const { id } = await db
    .insertInto('api_keys')
    .values({
      name: 'operator',
      org_id: null,
      prefix: secret.prefix,
      hash: secret.hash,
      created_at: now,
      scopes: everyScope,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await appendAudit(db, byService(now, action, `key:${id}`))
}

const checkPreset = (key: string): string => {
  if (/^[\x21-\x7e]{32,256}$/.test(key)) return key
  throw new SvcError(
    'usage',
    'weak_bootstrap_key',
    'SVC_BOOTSTRAP_API_KEY must be 32 to 256 printable characters without spaces',
    { hint: 'Make one with: openssl rand -hex 32' },
  )
}

/**
 * Makes the first operator key of a store; undefined when the store has had one, or when `preset` is it (whoever set
 * it has it). A later `preset` changes nothing, so that a revoked key stays revoked.
 */
export const ensureOperatorKey = async (storage: Storage, preset?: string): Promise<string | undefined> => {
  const secret =
    preset === undefined
      ? newSecret('operator')
      : { key: undefined, prefix: prefixOf(checkPreset(preset)), hash: sha256(preset) }
  return storage.write(async (db) => {
    const known = await db
      .selectFrom('api_keys')
      .where('org_id', 'is', null)
      .where('scopes', '=', everyScope)
      .select('id')
      .limit(1)
      .execute()
    if (known.length > 0) return undefined
    await addOperatorKey(db, secret, storage.now(), 'createKey')
    return secret.key
  })
}

export type ReplacedKeys = { key: string; revoked: number; ended: number }

/**
 * Ends every operator key and the requests that were made with them, and makes a new key. Keys that they created stay: this
 * is for a key that was lost, and what every tenant uses must not end with it.
 */
export const replaceOperatorKeys = async (storage: Storage): Promise<ReplacedKeys> => {
  const secret = newSecret('operator')
  const { revoked, ended } = await storage.write(async (db) => {
    const now = storage.now()
    const old = await db
      .updateTable('api_keys')
      .set({ revoked_at: now })
      .where('org_id', 'is', null)
      .where('scopes', '=', everyScope)
      .where('revoked_at', 'is', null)
      .returning(['id', 'expires_at'])
      .execute()
    await addOperatorKey(db, secret, now, 'resetOperatorKey')
    const over = await expireDue(db, now)
    return {
      revoked: old.filter(({ expires_at }) => expires_at === null || expires_at > now).length,
      ended: over.length,
    }
  })
  return { key: secret.key, revoked, ended }
}
