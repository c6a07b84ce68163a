import type { Action } from '../call/actions.ts'
import { SvcError } from '../../core/errors.ts'
import { keyPrefix } from '../../core/key-prefix.ts'
import { expireDue } from '../approvals/expiry.ts'
import { auditByService } from '../call/audit.ts'
import { newSecret } from '../keys/authenticator.ts'
import { changeKeyRows, insertKeyRow, isLive } from '../keys/rows.ts'
import { everyScope, scopesText } from '../keys/scopes.ts'
import type { Service } from '../call/service.ts'
import type { Db } from '../storage/schema.ts'

type Deps = Pick<Service, 'storage' | 'keyring'>

type NewKey = { name: string; scopes: string; created_by: number | null }

const operatorKey: NewKey = { name: 'operator', scopes: everyScope, created_by: null }

const selectOperatorKeys = (db: Db) =>
  db.selectFrom('api_keys').where('org_id', 'is', null).where('scopes', '=', everyScope)

/** Adds a key that the service creates by itself, for every organization. */
const addKey = async (
  { db, keyring }: { db: Db } & Pick<Service, 'keyring'>,
  secret: { key: string; prefix: string },
  values: NewKey,
  now: string,
  action: Action,
): Promise<void> => {
  const { id } = await insertKeyRow({ db, keyring }, secret, { ...values, org_id: null, created_at: now })
  await auditByService({ db, keyring }, now, { orgId: 0, action, subject: `key:${id}` })
}

const checkPreset = (key: string): string => {
  if (/^[\x21-\x7e]{32,256}$/.test(key)) return key
  throw new SvcError(
    'usage',
    'weak_bootstrap_key',
    'SVC_BOOTSTRAP_API_KEY must be 32 to 256 printable characters without spaces',
    { hint: 'Create one with: openssl rand -hex 32' },
  )
}

/**
 * Creates the first operator key of a store. Returns it unless it is `preset`, which the operator already has, or the
 * store has had one. A later `preset` changes nothing, so a revoked key stays revoked.
 */
export const ensureOperatorKey = async (
  { storage, keyring }: Deps,
  preset?: string,
): Promise<string | undefined> => {
  const secret =
    preset === undefined ? newSecret('operator') : { key: preset, prefix: keyPrefix(checkPreset(preset)) }
  return storage.write(
    async (db) => {
      if (await selectOperatorKeys(db).select('id').limit(1).executeTakeFirst()) return undefined
      await addKey({ db, keyring }, secret, operatorKey, storage.now(), 'createKey')
      return preset === undefined ? secret.key : undefined
    },
    { org: 0 },
  )
}

/** An operator key that is valid, by its first secret. */
const validOperatorKey = async (db: Db, now: string): Promise<number | undefined> => {
  const row = await selectOperatorKeys(db)
    .where(isLive(now))
    .orderBy('id')
    .select(['id', 'lineage'])
    .limit(1)
    .executeTakeFirst()
  return row && (row.lineage ?? row.id)
}

/** `local`, or `local-2` if a key of that name exists. */
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
 * Creates a key that can only request approvals, in every organization, for the person who runs the service. An operator
 * key counts as its creator, so it is revoked with that one.
 */
export const makeAskKey = async ({ storage, keyring }: Deps): Promise<string> => {
  const secret = newSecret('service')
  await storage.write(
    async (db) => {
      const now = storage.now()
      const created_by = (await validOperatorKey(db, now)) ?? null
      const values = { name: await freeName(db), scopes: scopesText(['ask']), created_by }
      await addKey({ db, keyring }, secret, values, now, 'createKey')
    },
    { org: 0 },
  )
  return secret.key
}

export type ReplacedKeys = { key: string; revoked: number; ended: number }

/**
 * Revokes every operator key, ends the requests made with them, and creates a new one. The keys that they created stay
 * valid: an operator key was lost, and the keys of the tenants must not end with it.
 */
export const replaceOperatorKeys = async ({ storage, keyring }: Deps): Promise<ReplacedKeys> => {
  const secret = newSecret('operator')
  const { revoked, ended } = await storage.write(
    async (db) => {
      const now = storage.now()
      const old = await changeKeyRows({ db, keyring }, { revoked_at: now }, (keys) =>
        keys.where('org_id', 'is', null).where('scopes', '=', everyScope).where('revoked_at', 'is', null),
      )
      await addKey({ db, keyring }, secret, operatorKey, now, 'resetOperatorKey')
      const over = await expireDue({ db, keyring }, now, { keys: old.map(({ id }) => id) })
      return {
        revoked: old.filter(({ expires_at }) => expires_at === null || expires_at > now).length,
        ended: over.length,
      }
    },
    { org: 0 },
  )
  return { key: secret.key, revoked, ended }
}
