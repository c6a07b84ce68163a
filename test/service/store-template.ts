import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createKeyring } from '../../src/service/custody/create-keyring.ts'
import { createVapid } from '../../src/service/push/vapid.ts'
import { openSqlite } from '../../src/service/storage/sqlite/open.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const create = async () => {
  const { path: folder, remove } = temporaryFolder()
  process.once('exit', remove)
  const path = join(folder, 'svc.db')
  const storage = await openSqlite({ path })
  const masterKey = randomBytes(32)
  const keyring = await createKeyring(storage, masterKey)
  const vapid = await createVapid(storage, keyring)
  await storage.close()
  return { path, masterKey, vapid }
}

let created: ReturnType<typeof create> | undefined

/**
 * A migrated store with its signing key and its VAPID key, created once a worker. Tests copy the file: migrating a
 * store and generating keys takes longer than most tests.
 */
export const storeTemplate = (): ReturnType<typeof create> => (created ??= create())
