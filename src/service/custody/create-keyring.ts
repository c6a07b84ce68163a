import { calculateJwkThumbprint, type JWK } from 'jose'
import type { Env } from '../../core/env.ts'
import { failure, SvcError } from '../../core/errors.ts'
import { sha256 } from '../../core/ids.ts'
import { keyedDigest } from '../../receipt/subject.ts'
import { auditByService } from '../call/audit.ts'
import type { Keyring } from '../call/keyring.ts'
import { adoptKeyRows } from '../keys/rows.ts'
import { type CoveredRow, coveredText, type SealedTable } from '../storage/schema/covered.ts'
import type { Storage } from '../storage/storage.ts'
import { insertMarker, loadMasterKey, readMarker, settlePending } from './master-key.ts'
import { remac, rewrap } from './rewrap.ts'
import { createSigner, createSigningKey, insertSigningKey, readSigningKeys } from './signing-keys.ts'
import { createFirstWrapping, createMasterKeys, deriveKey, type MasterKeys, opens } from './wrapping.ts'

const summarize = <T extends SealedTable>(table: T, rows: readonly CoveredRow<T>[]) => ({
  count: rows.length,
  digest: sha256(rows.map((row) => coveredText(table, row)).join('\n')).slice(0, 16),
})

type SigningKeyRow = Awaited<ReturnType<typeof readSigningKeys>>[number]

/** A signing key proves itself: only the master key can have wrapped the private half of its public key. */
const isAuthentic = async (
  { kid, public_jwk, wrapped_jwk }: SigningKeyRow,
  { unwrap }: Pick<MasterKeys, 'unwrap'>,
): Promise<boolean> => {
  try {
    const privateJwk = JSON.parse(unwrap(wrapped_jwk, `signing_keys:${kid}`)) as JWK
    const shown = JSON.parse(public_jwk) as JWK & { kid?: string }
    return shown.kid === kid && shown.x === privateJwk.x && (await calculateJwkThumbprint(privateJwk)) === kid
  } catch {
    return false
  }
}

/**
 * Authenticates the rows of an older svc, once, in one transaction: wraps every value again under a derived key and gives
 * each row its MAC. A second adoption is impossible without a value that only the master key, or an older copy of the
 * store, can provide. Returns lines for the operator, who can compare what was found.
 */
const adopt = async (storage: Storage, masterKey: Buffer, keys: MasterKeys): Promise<string[]> => {
  const first = createFirstWrapping(masterKey)
  const before = await storage.read(readSigningKeys)
  const proofs = await Promise.all(before.map((row) => isAuthentic(row, first)))
  const kids = before.flatMap(({ kid }, i) => (proofs[i] ? [kid] : [])).sort()
  return storage.write(
    async (db) => {
      // Another node that started at the same time was first.
      if ((await readMarker(db)) !== undefined) return []
      const at = storage.now()
      const { unreadable } = await rewrap(db, first, keys)
      await remac(db, keys, (_, row) => !('kid' in row) || kids.includes(String(row.kid)))
      const apiKeys = summarize('api_keys', await adoptKeyRows({ db, keyring: keys }))
      const devices = summarize('devices', await db.selectFrom('devices').selectAll().orderBy('id').execute())
      await insertMarker(db, keys, at)
      await auditByService(db, at, {
        orgId: 0,
        action: 'authenticateStore',
        subject: 'custody',
        changes: [
          ...kids.map((kid) => `signing_key:${kid}`),
          `api_keys:${apiKeys.count}:${apiKeys.digest}`,
          `devices:${devices.count}:${devices.digest}`,
        ],
      })
      return [
        `Authenticated the existing rows of the store under the master key, once. Signing keys: ${kids.join(', ')}. API keys: ${apiKeys.count} (digest ${apiKeys.digest}). Devices: ${devices.count} (digest ${devices.digest})`,
        ...(unreadable.length > 0
          ? [`These rows could not be authenticated and are not used: ${unreadable.join(', ')}`]
          : []),
      ]
    },
    { org: 0 },
  )
}

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
  if (await isUsed(storage)) {
    // Another node has initialized the store since.
    if ((await storage.read(readMarker)) !== undefined) return []
    throw unmarked()
  }
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
