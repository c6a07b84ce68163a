import { SvcError } from '../core/errors.ts'
import { expireDue } from './approvals/expiry.ts'
import { appendAudit } from './audit.ts'
import { newSecret, prefixOf } from './keys.ts'
import { changeKeyRows, insertKeyRow } from './keys/rows.ts'
import { everyScope } from './keys/scopes.ts'
import type { Service } from './service.ts'
import type { Db } from './storage/schema.ts'

type Kept = Pick<Service, 'storage' | 'keyring'>

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
  { db, keyring }: { db: Db } & Pick<Service, 'keyring'>,
  secret: { key: string; prefix: string },
  now: string,
  action: string,
): Promise<void> => {
  const values = { name: 'operator', org_id: null, created_at: now, scopes: everyScope }
  const { id } = await insertKeyRow({ db, keyring }, secret, values)
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
export const ensureOperatorKey = async (
  { storage, keyring }: Kept,
  preset?: string,
): Promise<string | undefined> => {
  const secret =
    preset === undefined ? newSecret('operator') : { key: preset, prefix: prefixOf(checkPreset(preset)) }
  return storage.write(async (db) => {
    const known = await db
      .selectFrom('api_keys')
      .where('org_id', 'is', null)
      .where('scopes', '=', everyScope)
      .select('id')
      .limit(1)
      .execute()
    if (known.length > 0) return undefined
    await addOperatorKey({ db, keyring }, secret, storage.now(), 'createKey')
    return preset === undefined ? secret.key : undefined
  })
}

export type ReplacedKeys = { key: string; revoked: number; ended: number }

/**
 * Ends every operator key and the requests that were made with them, and makes a new key. Keys that they created stay: this
 * is for a key that was lost, and what every tenant uses must not end with it.
 */
export const replaceOperatorKeys = async ({ storage, keyring }: Kept): Promise<ReplacedKeys> => {
  const secret = newSecret('operator')
  const { revoked, ended } = await storage.write(async (db) => {
    const now = storage.now()
    const old = await changeKeyRows({ db, keyring }, { revoked_at: now }, (keys) =>
      keys.where('org_id', 'is', null).where('scopes', '=', everyScope).where('revoked_at', 'is', null),
    )
    await addOperatorKey({ db, keyring }, secret, now, 'resetOperatorKey')
    const over = await expireDue(db, now)
    return {
      revoked: old.filter(({ expires_at }) => expires_at === null || expires_at > now).length,
      ended: over.length,
    }
  })
  return { key: secret.key, revoked, ended }
}
