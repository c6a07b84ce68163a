import { SvcError } from '../../core/errors.ts'
import { expireDue } from '../approvals/expiry.ts'
import { auditByService } from '../call/audit.ts'
import { newSecret, prefixOf } from '../keys/authenticator.ts'
import { changeKeyRows, insertKeyRow, isLive } from '../keys/rows.ts'
import { everyScope, scopesText } from '../keys/scopes.ts'
import type { Service } from '../call/service.ts'
import type { Db } from '../storage/schema.ts'

type Kept = Pick<Service, 'storage' | 'keyring'>

type Own = { name: string; scopes: string; created_by: number | null }

const operator: Own = { name: 'operator', scopes: everyScope, created_by: null }

/** Adds a key that the service makes itself, for every organization. */
const addKey = async (
  { db, keyring }: { db: Db } & Pick<Service, 'keyring'>,
  secret: { key: string; prefix: string },
  own: Own,
  now: string,
  action: string,
): Promise<void> => {
  const { id } = await insertKeyRow({ db, keyring }, secret, { ...own, org_id: null, created_at: now })
  await auditByService(db, now, { orgId: 0, action, subject: `key:${id}` })
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
  return storage.write(
    async (db) => {
      const known = await db
        .selectFrom('api_keys')
        .where('org_id', 'is', null)
        .where('scopes', '=', everyScope)
        .select('id')
        .limit(1)
        .execute()
      if (known.length > 0) return undefined
      await addKey({ db, keyring }, secret, operator, storage.now(), 'createKey')
      return preset === undefined ? secret.key : undefined
    },
    { org: 0 },
  )
}

/** A key that works, of an operator; its first secret where it was rotated. */
const livingOperator = async (db: Db, now: string): Promise<number | undefined> => {
  const row = await db
    .selectFrom('api_keys')
    .where('org_id', 'is', null)
    .where('scopes', '=', everyScope)
    .where(isLive(now))
    .orderBy('id')
    .select(['id', 'lineage'])
    .limit(1)
    .executeTakeFirst()
  return row && (row.lineage ?? row.id)
}

/** `local`, or `local-2` where a key of that name exists. */
const freeName = async (db: Db): Promise<string> => {
  const rows = await db
    .selectFrom('api_keys')
    .where('org_id', 'is', null)
    .where('revoked_at', 'is', null)
    .select('name')
    .execute()
  const taken = new Set(rows.map(({ name }) => name))
  let name = 'local'
  for (let n = 2; taken.has(name); n++) name = `local-${n}`
  return name
}

/**
 * Makes a key that can only ask, in every organization, for who runs the service. It is created by an operator key, so it
 * ends with that one.
 */
export const makeAskKey = async ({ storage, keyring }: Kept): Promise<string> => {
  const secret = newSecret('service')
  await storage.write(
    async (db) => {
      const now = storage.now()
      const created_by = (await livingOperator(db, now)) ?? null
      const own = { name: await freeName(db), scopes: scopesText(['ask']), created_by }
      await addKey({ db, keyring }, secret, own, now, 'createKey')
    },
    { org: 0 },
  )
  return secret.key
}

export type ReplacedKeys = { key: string; revoked: number; ended: number }

/**
 * Ends every operator key and the requests that were made with them, and makes a new key. Keys that they created stay: this
 * is for a key that was lost, and what every tenant uses must not end with it.
 */
export const replaceOperatorKeys = async ({ storage, keyring }: Kept): Promise<ReplacedKeys> => {
  const secret = newSecret('operator')
  const { revoked, ended } = await storage.write(
    async (db) => {
      const now = storage.now()
      const old = await changeKeyRows({ db, keyring }, { revoked_at: now }, (keys) =>
        keys.where('org_id', 'is', null).where('scopes', '=', everyScope).where('revoked_at', 'is', null),
      )
      await addKey({ db, keyring }, secret, operator, now, 'resetOperatorKey')
      const over = await expireDue(db, now)
      return {
        revoked: old.filter(({ expires_at }) => expires_at === null || expires_at > now).length,
        ended: over.length,
      }
    },
    { org: 0 },
  )
  return { key: secret.key, revoked, ended }
}
