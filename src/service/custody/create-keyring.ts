import type { Env } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'
import { keyedDigest } from '../../receipt/subject.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Storage } from '../storage/storage.ts'
import { adopt } from './adoption.ts'
import { insertMarker, loadMasterKey, readMarker, settlePending } from './master-key.ts'
import { createSigner, createSigningKey, insertSigningKey, readSigningKeys } from './signing-keys.ts'
import { createFirstWrapping, createMasterKeys, deriveKey, type MasterKeys, opens } from './wrapping.ts'

const restore = 'svc service restore BACKUP.db --data-dir NEWFOLDER'

const wrongMasterKey = (): SvcError =>
  new SvcError(
    'failed',
    'wrong_master_key',
    'The master key is not the one that this store was created with',
    {
      hint: `Use the master key of this data folder (SVC_MASTER_KEY, or its file master.key; after svc service rotate-master-key, the new one), or restore a backup that contains it: ${restore}`,
    },
  )

const unmarked = (): SvcError =>
  new SvcError(
    'failed',
    'store_changed',
    'Another program has changed the store: the mark that its rows are authentic is missing',
    { hint: `Restore a backup: ${restore}` },
  )

/** Whether the store contains anything that its master key protects. */
const isUsed = (storage: Storage): Promise<boolean> =>
  storage.read(async (db) => {
    const found = [
      await readMarker(db),
      await db.selectFrom('signing_keys').select('kid').limit(1).executeTakeFirst(),
      await db.selectFrom('api_keys').select('id').limit(1).executeTakeFirst(),
      await db.selectFrom('devices').select('id').limit(1).executeTakeFirst(),
    ]
    return found.some((one) => one !== undefined)
  })

/**
 * A store without a marker is new, or of an older svc. Only the master key can distinguish them: it opens a signing key
 * that the older svc wrapped. Any other store was changed by another program and is never authenticated. Returns log lines.
 */
const initialize = async (storage: Storage, masterKey: Buffer, keys: MasterKeys): Promise<string[]> => {
  const first = createFirstWrapping(masterKey)
  const rows = await storage.read(readSigningKeys)
  if (rows.some(({ kid, wrapped_jwk }) => opens(first, wrapped_jwk, `signing_keys:${kid}`)))
    return adopt(storage, masterKey, keys)
  if (rows.some(({ wrapped_jwk }) => wrapped_jwk.startsWith('v1.'))) throw wrongMasterKey()
  if (await isUsed(storage)) throw unmarked()
  const signingKey = await createSigningKey()
  await storage.write(
    async (db) => {
      // Another node that started at the same time was first.
      if ((await readMarker(db)) !== undefined) return
      const now = storage.now()
      await insertSigningKey(db, keys, signingKey, now)
      await insertMarker(db, keys, now)
    },
    { org: 0 },
  )
  return []
}

/**
 * The keyring of a store. Creates the signing key of a new store; authenticates the rows of an older svc, which it
 * reports line by line. Throws an SvcError if the master key is not the one of this store, or the marker is missing.
 */
export const createKeyring = async (
  storage: Storage,
  masterKey: Buffer,
  report: (line: string) => void = () => undefined,
): Promise<Keyring> => {
  const keys = createMasterKeys(masterKey)
  const marker = await storage.read(readMarker)
  if (marker === undefined) (await initialize(storage, masterKey, keys)).forEach(report)
  if (!opens(keys, marker ?? (await storage.read(readMarker))!, 'custody')) throw wrongMasterKey()
  const subjects = deriveKey(masterKey, 'subjects')
  return {
    ...keys,
    ...createSigner(storage, keys),
    secretDigest: (secret) => keyedDigest(secret, subjects),
  }
}

/** The keyring of the store of a data folder. Finishes an interrupted rotation of the master key first. */
export const openKeyring = async (
  storage: Storage,
  dataDir: string,
  env: Env,
  report: (line: string) => void,
): Promise<Keyring> => {
  if (!env.SVC_MASTER_KEY) settlePending(dataDir, await storage.read(readMarker))
  return createKeyring(storage, loadMasterKey(dataDir, env, await isUsed(storage)), report)
}
