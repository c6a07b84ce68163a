import { randomBytes } from 'node:crypto'
import type { Env } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'
import { auditByService } from '../call/audit.ts'
import type { RowMacs, Wrapping } from '../call/keyring.ts'
import { isAuthenticKey, rehashKeyRows } from '../keys/rows.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import { announceAdoption } from './adoption.ts'
import { createKeyring } from './create-keyring.ts'
import { readMarker } from './marker.ts'
import { decodeMasterKey, finishPending, keepPending, loadMasterKey, settlePending } from './master-key.ts'
import { remac, rewrap } from './rewrap.ts'
import { createRowMacs, createWrapping, opens } from './wrapping.ts'

type Keys = Wrapping & RowMacs

const keysOf = (masterKey: Buffer): Keys => ({ ...createWrapping(masterKey), ...createRowMacs(masterKey) })

export type RotatedMasterKey = {
  /** Values that are wrapped by the new key. */
  values: number
  /** Values that could not be opened before either, and rows that were not authentic before either. */
  left_out: string[]
  /** `finished`: an interrupted rotation was. `unchanged`: the store had the new key already. */
  state: 'rotated' | 'finished' | 'unchanged'
}

/** Everything in the store under the new key, in the transaction of `db`. What was not authentic does not become so. */
const changeKeys = async (db: Db, from: Keys, to: Keys, now: string): Promise<RotatedMasterKey> => {
  const apiKeys = await db.selectFrom('api_keys').selectAll().orderBy('id').execute()
  const authentic = new Set(apiKeys.filter((row) => isAuthenticKey(from, row)).map(({ id }) => id))
  const { values, unreadable } = await rewrap(db, from, to)
  const left_out = [
    ...(await remac(db, to, (table, row) => from.holds(table, row))),
    ...apiKeys.filter(({ id }) => !authentic.has(id)).map(({ id }) => `api_keys:${id}`),
  ]
  await rehashKeyRows({ db, keyring: to }, authentic)
  await auditByService(db, now, { orgId: 0, action: 'rotateMasterKey', subject: 'custody' })
  return { values, left_out: [...new Set([...left_out, ...unreadable])], state: 'rotated' }
}

const required = (): SvcError =>
  new SvcError(
    'usage',
    'new_master_key_required',
    'The master key is in SVC_MASTER_KEY, so the new one must be given',
    {
      hint: 'openssl rand -hex 32 > new.key, then: svc service rotate-master-key --new-key-file new.key',
    },
  )

const nothing = { values: 0, left_out: [] }

/**
 * Replaces the master key of a store that no service has open. One transaction changes the store, and until the key file is
 * replaced the next key is beside it: so a crash leaves a store that one of the two keys opens, and `settlePending` knows
 * which. Where the key is in the environment, `given` is the new one and whoever gave it has both.
 */
export const rotateMasterKey = async (
  storage: Storage,
  dataDir: string,
  env: Env,
  given: string | undefined,
  tell: (line: string) => void,
): Promise<RotatedMasterKey> => {
  const inFile = !env.SVC_MASTER_KEY
  if (!inFile && given === undefined) throw required()
  const next = given === undefined ? randomBytes(32) : decodeMasterKey(given, '--new-key-file')
  const marker = await storage.read(readMarker)
  if (inFile && settlePending(dataDir, marker) && given === undefined)
    return { ...nothing, state: 'finished' }
  const to = keysOf(next)
  if (marker !== undefined && opens(to, marker, 'custody')) return { ...nothing, state: 'unchanged' }
  const old = loadMasterKey(dataDir, env, true)
  await createKeyring(storage, old, (adopted) => announceAdoption(adopted).forEach(tell))
  if (inFile) keepPending(dataDir, next)
  const done = await storage.write((db) => changeKeys(db, keysOf(old), to, storage.now()), { org: 0 })
  if (inFile) finishPending(dataDir)
  return done
}
