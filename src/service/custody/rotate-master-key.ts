import { randomBytes } from 'node:crypto'
import type { Env } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'
import { auditByService } from '../call/audit.ts'
import { isAuthenticKey, rehashKeyRows } from '../keys/rows.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import { createKeyring } from './create-keyring.ts'
import {
  decodeMasterKey,
  finishPending,
  loadMasterKey,
  readMarker,
  savePending,
  settlePending,
} from './master-key.ts'
import { remac, rewrap } from './rewrap.ts'
import { createMasterKeys, type MasterKeys, opens } from './wrapping.ts'

export type RotatedMasterKey = {
  /** Number of values that the new key wraps. */
  values: number
  /** Values that could not be opened before either, and rows that were not authentic before either. */
  left_out: string[]
  /** `finished`: completed an interrupted rotation. `unchanged`: the store already had the new key. */
  state: 'rotated' | 'finished' | 'unchanged'
}

/** Moves the store to the new key, in the transaction of `db`. A row that was not authentic does not become so. */
const changeKeys = async (
  db: Db,
  from: MasterKeys,
  to: MasterKeys,
  now: string,
): Promise<RotatedMasterKey> => {
  const apiKeys = await db.selectFrom('api_keys').selectAll().orderBy('id').execute()
  const authentic = new Set(apiKeys.filter((row) => isAuthenticKey(from, row)).map(({ id }) => id))
  const { values, unreadable } = await rewrap(db, from, to)
  const left_out = [
    ...(await remac(db, from, to)),
    ...apiKeys.filter(({ id }) => !authentic.has(id)).map(({ id }) => `api_keys:${id}`),
  ]
  await rehashKeyRows({ db, keyring: to }, authentic)
  await auditByService({ db, keyring: to }, now, { orgId: 0, action: 'rotateMasterKey', subject: 'custody' })
  return { values, left_out: [...new Set([...left_out, ...unreadable])], state: 'rotated' }
}

const nothing = { values: 0, left_out: [] }

/**
 * Replaces the master key of a store that no service has open. One transaction changes the store, and the next key is
 * saved before it. After a crash one of the two keys opens the store, and `settlePending` finds out which. If the key
 * is in the environment, as for every store without a folder, the caller has both keys and passes the new one.
 */
export const rotateMasterKey = async (
  storage: Storage,
  dataDir: string | undefined,
  env: Env,
  newKey: string | undefined,
): Promise<RotatedMasterKey> => {
  const keyFolder = env.SVC_MASTER_KEY ? undefined : dataDir
  if (keyFolder === undefined && newKey === undefined)
    throw new SvcError(
      'usage',
      'new_master_key_required',
      'The master key is in SVC_MASTER_KEY, so --new-key-file is required',
      {
        hint: 'openssl rand -hex 32 > new.key, then: svc service rotate-master-key --new-key-file new.key',
      },
    )
  const next = newKey === undefined ? randomBytes(32) : decodeMasterKey(newKey, '--new-key-file')
  const marker = await storage.read(readMarker)
  if (keyFolder !== undefined && settlePending(keyFolder, marker) && newKey === undefined)
    return { ...nothing, state: 'finished' }
  const to = createMasterKeys(next)
  if (marker !== undefined && opens(to, marker, 'custody')) return { ...nothing, state: 'unchanged' }
  const old =
    keyFolder === undefined
      ? decodeMasterKey(env.SVC_MASTER_KEY ?? '', 'SVC_MASTER_KEY')
      : loadMasterKey(keyFolder, env, true)
  await createKeyring(storage, old)
  if (keyFolder !== undefined) savePending(keyFolder, next)
  const done = await storage.write((db) => changeKeys(db, createMasterKeys(old), to, storage.now()), {
    org: 0,
  })
  if (keyFolder !== undefined) finishPending(keyFolder)
  return done
}
