import type { Env } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'
import { keyedDigest } from '../../receipt/subject.ts'
import type { Keyring, RowMacs, Wrapping } from '../call/keyring.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import { adopt, type Adopted, announceAdoption } from './adoption.ts'
import { insertMarker, readMarker } from './marker.ts'
import { loadMasterKey, settlePending } from './master-key.ts'
import { createSigner, insertSigningKey, makeSigningKey, readSigningKeys } from './signing-keys.ts'
import { createFirstWrapping, createRowMacs, createWrapping, deriveKey, opens } from './wrapping.ts'

const restore = 'restore a backup that holds it: svc service restore BACKUP.db --data-dir NEWFOLDER'

const wrongMasterKey = (): SvcError =>
  new SvcError('failed', 'wrong_master_key', 'The master key is not the one that this store was made with', {
    hint: `Use the master key of this data folder (SVC_MASTER_KEY, or its file master.key; after svc service rotate-master-key, the new one), or ${restore}`,
  })

const unmarked = (): SvcError =>
  new SvcError(
    'failed',
    'store_changed',
    'Another program has changed the store: the mark that its rows are authentic is missing',
    { hint: 'Restore a backup: svc service restore BACKUP.db --data-dir NEWFOLDER' },
  )

const isUsedStore = async (db: Db): Promise<boolean> => {
  if ((await readMarker(db)) !== undefined) return true
  if (await db.selectFrom('signing_keys').select('kid').limit(1).executeTakeFirst()) return true
  if (await db.selectFrom('api_keys').select('id').limit(1).executeTakeFirst()) return true
  return (await db.selectFrom('devices').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** Whether the store holds anything that its master key protects. */
export const isUsed = (storage: Storage): Promise<boolean> => storage.read(isUsedStore)

const beginStore = async (storage: Storage, keys: Wrapping & RowMacs): Promise<void> => {
  const made = await makeSigningKey()
  await storage.write(
    async (db) => {
      const now = storage.now()
      await insertSigningKey(db, keys, made, now)
      await insertMarker(db, keys, now)
    },
    { org: 0 },
  )
}

/**
 * A store without a marker is new, or of an older svc. Only the master key can tell the latter: it opens a signing key as
 * that svc wrapped it. All else was changed by somebody, and is never authenticated.
 */
const beginCustody = async (
  storage: Storage,
  masterKey: Buffer,
  keys: Wrapping & RowMacs,
): Promise<Adopted | undefined> => {
  const first = createFirstWrapping(masterKey)
  const rows = await storage.read(readSigningKeys)
  if (rows.some(({ kid, wrapped_jwk }) => opens(first, wrapped_jwk, `signing_keys:${kid}`)))
    return adopt(storage, masterKey, keys)
  if (rows.some(({ wrapped_jwk }) => wrapped_jwk.startsWith('v1.'))) throw wrongMasterKey()
  if (await isUsed(storage)) throw unmarked()
  await beginStore(storage, keys)
  return undefined
}

/**
 * The keyring of a store. A new store gets its signing key; the rows of an older svc are authenticated, which `tell` hears
 * of. Fails with an SvcError when the master key is not the one of this store, or its marker is gone.
 */
export const createKeyring = async (
  storage: Storage,
  masterKey: Buffer,
  tell: (adopted: Adopted) => void = () => undefined,
): Promise<Keyring> => {
  const keys = { ...createWrapping(masterKey), ...createRowMacs(masterKey) }
  const marker = await storage.read(readMarker)
  if (marker === undefined) {
    const adopted = await beginCustody(storage, masterKey, keys)
    if (adopted) tell(adopted)
  } else if (!opens(keys, marker, 'custody')) throw wrongMasterKey()
  const subjects = deriveKey(masterKey, 'subjects')
  return {
    ...keys,
    ...createSigner(storage, keys),
    secretDigest: (secret) => keyedDigest(secret, subjects),
  }
}

/** The master key of a data folder. A rotation that broke off is finished first. */
export const openMasterKey = async (storage: Storage, dataDir: string, env: Env): Promise<Buffer> => {
  if (!env.SVC_MASTER_KEY) settlePending(dataDir, await storage.read(readMarker))
  return loadMasterKey(dataDir, env, await isUsed(storage))
}

/** The keyring of the store of a data folder. `tell` hears, line by line, of rows that are authenticated now. */
export const openKeyring = async (
  storage: Storage,
  dataDir: string,
  env: Env,
  tell: (line: string) => void,
): Promise<Keyring> =>
  createKeyring(storage, await openMasterKey(storage, dataDir, env), (adopted) =>
    announceAdoption(adopted).forEach(tell),
  )
