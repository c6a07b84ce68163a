import type { Env } from '../../core/env.ts'
import { failure, type SvcError } from '../../core/errors.ts'
import { keyedDigest } from '../../receipt/subject.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import { keepMarker, keyOpens, loadMasterKey, readMarker, settlePending } from './master-key.ts'
import { createSigner, createSigningKey, insertSigningKey } from './signing-keys.ts'
import { createMasterKeys, deriveKey, type MasterKeys } from './wrapping.ts'

const restore = 'svc service restore BACKUP.db --data-dir NEWFOLDER'

const wrongMasterKey = (): SvcError =>
  failure(
    'wrong_master_key',
    'The master key is not the one that this store was created with',
    `Use the master key of this data folder (SVC_MASTER_KEY, or its file master.key; after svc service rotate-master-key, the new one), or restore a backup that contains it: ${restore}`,
  )

const unmarked = (): SvcError =>
  failure(
    'store_changed',
    'Another program has changed the store: the mark that its rows are authentic is missing',
    `Restore a backup: ${restore}`,
  )

/** Whether the store contains anything that its master key protects. */
const isUsed = async (db: Db): Promise<boolean> => {
  const found = [
    await readMarker(db),
    await db.selectFrom('signing_keys').select('kid').limit(1).executeTakeFirst(),
    await db.selectFrom('api_keys').select('id').limit(1).executeTakeFirst(),
    await db.selectFrom('devices').select('id').limit(1).executeTakeFirst(),
  ]
  return found.some((one) => one !== undefined)
}

/** Throws unless one of these master keys is that of a store. A new store has none yet. Changes nothing. */
export const requireKeyOf = async (db: Db, masterKeys: readonly Buffer[]): Promise<void> => {
  const marker = await readMarker(db)
  if (marker !== undefined && !masterKeys.some((key) => keyOpens(key, marker))) throw wrongMasterKey()
}

/** Marks a new store and creates its signing key. A used store without a marker was changed by another program. */
const initialize = async (storage: Storage, keys: MasterKeys): Promise<void> => {
  const signingKey = await createSigningKey()
  await storage.write(
    async (db) => {
      // Another node that started at the same time was first.
      if ((await readMarker(db)) !== undefined) return
      if (await isUsed(db)) throw unmarked()
      const now = storage.now()
      await insertSigningKey(db, keys, signingKey, now)
      await keepMarker(db, keys, now)
    },
    { org: 0 },
  )
}

/**
 * The keyring of a store; creates the signing key of a new store. Throws an SvcError if the master key is not the one of this
 * store, or the marker is missing.
 */
export const createKeyring = async (storage: Storage, masterKey: Buffer): Promise<Keyring> => {
  const keys = createMasterKeys(masterKey)
  if ((await storage.read(readMarker)) === undefined) await initialize(storage, keys)
  await storage.read((db) => requireKeyOf(db, [masterKey]))
  const subjects = deriveKey(masterKey, 'subjects')
  return {
    ...keys,
    ...createSigner(storage, keys),
    secretDigest: (secret) => keyedDigest(secret, subjects),
  }
}

/** The keyring of the store of a data folder. Finishes an interrupted rotation of the master key first. */
export const openKeyring = async (storage: Storage, dataDir: string, env: Env): Promise<Keyring> => {
  if (!env.SVC_MASTER_KEY) settlePending(dataDir, await storage.read(readMarker))
  return createKeyring(storage, loadMasterKey(dataDir, env, await storage.read(isUsed)))
}
