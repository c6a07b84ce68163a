import { existsSync, readFileSync } from 'node:fs'
import type { Env } from '../../core/env.ts'
import { failure } from '../../core/errors.ts'
import { requireKeyOf } from '../custody/create-keyring.ts'
import { decodeMasterKey, loadMasterKey, pendingKeyFile, readMarker } from '../custody/master-key.ts'
import { createEntryCheck } from '../http/entry-check.ts'
import { asStoreProblem } from '../storage/sqlite/errors.ts'
import { newestVersion } from '../storage/migrations.ts'
import type { Db } from '../storage/schema.ts'
import { storeVersion } from '../storage/sqlite/migrate.ts'
import { requireWhole } from '../storage/sqlite/whole-check.ts'
import { readWhole } from '../storage/sqlite/whole.ts'
import { storeFile } from './data-dir.ts'
import { forDatabase, requireMasterKey } from './place.ts'
import { readOptions, type ServeOptions } from './serve-options.ts'

const checkDatabase = async (url: string, env: Env, allowDataLoss: boolean): Promise<void> => {
  const masterKey = requireMasterKey(env)
  const [{ inspectDatabase, readWhole }, { dataLoss }] = await Promise.all([
    import('../storage/postgres/whole.ts'),
    import('../storage/postgres/facts.ts'),
  ])
  const { facts, version, unwritable } = await inspectDatabase(url)
  const loss = dataLoss(facts)
  if (loss && !allowDataLoss)
    throw failure('database_loses_data', `The database can lose data: ${loss.reason}`, loss.solution)
  if (unwritable) throw unwritable
  if (version === newestVersion())
    await forDatabase(readWhole(url, ({ db }) => requireKeyOf(db, [masterKey])))
}

/** Like the keyring of a start, which also finishes an interrupted rotation of the master key. */
const checkFolderKey = async (dataDir: string, db: Db, env: Env): Promise<void> => {
  if ((await readMarker(db)) === undefined) return
  const pending = pendingKeyFile(dataDir)
  const isRotating = !env.SVC_MASTER_KEY && existsSync(pending)
  const next = isRotating ? [decodeMasterKey(readFileSync(pending, 'utf8'), pending)] : []
  await requireKeyOf(db, [...next, loadMasterKey(dataDir, env, true)])
}

/**
 * Throws the SvcError with which a start would end, as far as that can be told without a start: flags, variables, files and the
 * store. Changes nothing, and does not mind a service that runs with them.
 */
export const checkService = async (options: ServeOptions): Promise<void> => {
  const { publicUrl } = readOptions(options)
  const { env, trustedProxy = [], dataDir, databaseUrl } = options
  createEntryCheck({ loopbackOnly: false, publicUrl, trustedProxy })
  if (databaseUrl !== undefined) return checkDatabase(databaseUrl, env, options.allowDataLoss ?? false)
  if (env.SVC_MASTER_KEY) decodeMasterKey(env.SVC_MASTER_KEY, 'SVC_MASTER_KEY')
  const file = storeFile(dataDir!)
  if (!existsSync(file)) return
  try {
    requireWhole(file)
    if (storeVersion(file) > 0) await readWhole(file, ({ db }) => checkFolderKey(dataDir!, db, env))
  } catch (error) {
    throw asStoreProblem(file, error)
  }
}
