import {
  type ExpressionBuilder,
  expressionBuilder,
  type Insertable,
  type Selectable,
  type SelectQueryBuilder,
  type Updateable,
} from 'kysely'
import { sameSecret, sha256 } from '../../core/ids.ts'
import type { Keyring } from '../call/keyring.ts'
import { requireNewId } from '../call/new-ids.ts'
import { type Db, newRow, type Tables } from '../storage/schema.ts'
import { addMs } from '../../core/iso-time.ts'
import { conflict, type Refusal } from '../../core/refusal.ts'

// All writes to `api_keys` are in this file, because each must keep the hash of the row up to date.

export type KeyRow = Selectable<Tables['api_keys']>
export type NewKeyRow = Omit<Insertable<Tables['api_keys']>, 'id' | 'hash' | 'wrapped_hash' | 'prefix'>
type Secret = { key: string; prefix: string }
type Deps = { db: Db; keyring: Pick<Keyring, 'wrap' | 'unwrap' | 'keyHash'> }

const contextOf = (prefix: string) => `api_keys:${prefix}` as const

/** Adds a key. The store gets only hashes of the secret: one that covers the row, and a wrapped one. */
export const insertKeyRow = async (
  { db, keyring }: Deps,
  { key, prefix }: Secret,
  values: NewKeyRow,
): Promise<KeyRow> => {
  const secretHash = sha256(key)
  const wrapped_hash = keyring.wrap(secretHash, contextOf(prefix))
  // What was meant: a trigger of the database can change each row on its way in.
  const meant = newRow('api_keys', { ...values, prefix, hash: '', wrapped_hash })
  const { id } = await db.insertInto('api_keys').values(meant).returning('id').executeTakeFirstOrThrow()
  await requireNewId(db, 'key', id, meant.org_id)
  const row = { ...meant, id }
  const hash = keyring.keyHash(secretHash, row)
  await db.updateTable('api_keys').set({ hash }).where('id', '=', id).execute()
  return { ...row, hash }
}

/** The hash of a row as it is, or with other values. Throws if another program has changed the wrapped hash. */
const hashOf = ({ unwrap, keyHash }: Deps['keyring'], row: KeyRow, next = row): string =>
  keyHash(unwrap(row.wrapped_hash, contextOf(row.prefix)), next)

/** Whether the service wrote this row and no other program has changed it since. */
export const isAuthenticKey = (keyring: Deps['keyring'], row: KeyRow): boolean => {
  try {
    return sameSecret(row.hash, hashOf(keyring, row))
  } catch {
    return false
  }
}

export const keyNotAuthentic = (id: number): Refusal =>
  conflict(
    'key_not_authentic',
    'Another program has changed this key in the store, so it is not used',
    `svc key revoke ${id}, then svc key create`,
  )

/** Gives a key a new secret and other values; the former secret ends with the commit. */
export const renewKeyRow = async (
  { db, keyring }: Deps,
  row: KeyRow,
  { key, prefix }: Secret,
  values: Omit<Updateable<Tables['api_keys']>, 'id' | 'hash' | 'wrapped_hash' | 'prefix'>,
): Promise<void> => {
  const secretHash = sha256(key)
  const next = { ...row, ...values, prefix } as KeyRow
  await db
    .updateTable('api_keys')
    .set({
      ...values,
      prefix,
      wrapped_hash: keyring.wrap(secretHash, contextOf(prefix)),
      hash: keyring.keyHash(secretHash, next),
    })
    .where('id', '=', row.id)
    .execute()
}

/** Deletes what is stored for repeats of a key without any secret left, so that it takes no room from the others. */
const forgetRepeats = async (db: Db, { id, lineage }: KeyRow): Promise<void> => {
  const key = lineage ?? id
  await db
    .deleteFrom('idempotency')
    .where('key_id', '=', key)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('api_keys')
            .where(({ eb, or }) => or([eb('id', '=', key), eb('lineage', '=', key)]))
            .where('revoked_at', 'is', null)
            .select('id'),
        ),
      ),
    )
    .execute()
}

/** True of the keys of an organization, or of those of none: an id can be given again in another one. */
export const inOrganization = (orgId: number | null) =>
  expressionBuilder<Tables, 'api_keys'>()('org_id', orgId === null ? 'is' : '=', orgId)

/** True of the keys that can call in an organization: its own, and those of the whole service. */
export const callingIn =
  (orgId: number | null) =>
  ({ eb, or }: ExpressionBuilder<Tables, 'api_keys'>) =>
    or([eb('org_id', '=', orgId), eb('org_id', 'is', null)])

type KeyQuery = SelectQueryBuilder<Tables, 'api_keys', object>

/**
 * Changes the keys that `where` finds and returns them as they are now. A row that another program has changed stays
 * invalid.
 */
export const changeKeyRows = async (
  { db, keyring }: Deps,
  set: Omit<Updateable<Tables['api_keys']>, 'id' | 'hash' | 'wrapped_hash' | 'prefix'>,
  where: (query: KeyQuery) => KeyQuery,
): Promise<KeyRow[]> => {
  const rows = await where(db.selectFrom('api_keys')).selectAll().orderBy('id').execute()
  const changed: KeyRow[] = []
  for (const row of rows) {
    const next = { ...row, ...set } as KeyRow
    const hash = isAuthenticKey(keyring, row) ? hashOf(keyring, row, next) : row.hash
    await db
      .updateTable('api_keys')
      .set({ ...set, hash })
      .where('id', '=', row.id)
      .where(inOrganization(row.org_id))
      .execute()
    changed.push({ ...next, hash })
  }
  if (set.revoked_at) for (const row of changed) await forgetRepeats(db, row)
  return changed
}

/** True of a secret that is neither revoked nor expired. */
export const isLive =
  (now: string) =>
  ({ and, eb, or }: ExpressionBuilder<Tables, 'api_keys'>) =>
    and([eb('revoked_at', 'is', null), or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])])

/** How often the use of a key is recorded. */
export const noteEveryMs = 60_000

/**
 * Records the use of a key, unless another node has just done so. The hash does not cover this column: no decision relies on
 * it.
 */
export const noteKeyUse = async (db: Db, id: number, at: string): Promise<void> => {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: at })
    .where('id', '=', id)
    .where(({ eb, or }) =>
      or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', addMs(at, -noteEveryMs))]),
    )
    .execute()
}

/** Computes the hashes of all keys again under a new master key, which wraps `wrapped_hash` already. */
export const rehashKeyRows = async ({ db, keyring }: Deps, authentic: ReadonlySet<number>): Promise<void> => {
  for (const row of await db.selectFrom('api_keys').selectAll().execute()) {
    if (!authentic.has(row.id)) continue
    await db
      .updateTable('api_keys')
      .set({ hash: hashOf(keyring, row) })
      .where('id', '=', row.id)
      .execute()
  }
}
