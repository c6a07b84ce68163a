import { existsSync } from 'node:fs'
import { failure } from '../../core/errors.ts'
import { decodeMasterKey } from '../custody/master-key.ts'
import { createEntryCheck } from '../http/entry-check.ts'
import { asStoreProblem } from '../storage/sqlite/errors.ts'
import { storeVersion } from '../storage/sqlite/migrate.ts'
import { storeFile } from './data-dir.ts'
import { requireMasterKey } from './place.ts'
import { readOptions, type ServeOptions } from './serve-options.ts'

const checkDatabase = async (url: string, allowDataLoss: boolean): Promise<void> => {
  const [{ inspectDatabase }, { dataLoss }] = await Promise.all([
    import('../storage/postgres/whole.ts'),
    import('../storage/postgres/facts.ts'),
  ])
  const loss = dataLoss((await inspectDatabase(url)).facts)
  if (loss && !allowDataLoss)
    throw failure('database_loses_data', `The database can lose data: ${loss.reason}`, loss.solution)
}

/**
 * Throws the SvcError with which a start would end, as far as that can be told without a start: flags, variables, files and the
 * store. Changes nothing, and does not mind a service that runs with them.
 */
export const checkService = async (options: ServeOptions): Promise<void> => {
  const { publicUrl } = readOptions(options)
  const { env, trustedProxy = [], dataDir, databaseUrl } = options
  createEntryCheck({ loopbackOnly: false, publicUrl, trustedProxy })
  if (databaseUrl !== undefined) {
    requireMasterKey(env)
    return checkDatabase(databaseUrl, options.allowDataLoss ?? false)
  }
  if (env.SVC_MASTER_KEY) decodeMasterKey(env.SVC_MASTER_KEY, 'SVC_MASTER_KEY')
  const file = storeFile(dataDir!)
  try {
    if (existsSync(file)) storeVersion(file)
  } catch (error) {
    throw asStoreProblem(file, error)
  }
}
