import { randomBytes } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../src/core/ids.ts'
import { createKeyring } from '../../src/service/custody/create-keyring.ts'
import { createVapid } from '../../src/service/push/vapid.ts'
import { openPostgres } from '../../src/service/storage/postgres/open.ts'
import { openSqlite } from '../../src/service/storage/sqlite/open.ts'
import type { Storage } from '../../src/service/storage/storage.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { copyDatabase, databaseUrl, dropDatabase, onPostgres } from './storage/postgres-databases.ts'

type Open = { storage: Storage; folder: string; close(keep?: string): Promise<void> }

/** The engine of the tests: stores that are copies of another one, and what to do with them at the end. */
type Engine = {
  create(): Promise<{ storage: Storage; name: string }>
  open(from: string, now?: () => Date): Promise<Open>
}

const embedded: Engine = {
  create: async () => {
    const { path: folder, remove } = temporaryFolder()
    process.once('exit', remove)
    const name = join(folder, 'svc.db')
    return { storage: await openSqlite({ path: name }), name }
  },
  open: async (from, now) => {
    const { path: folder, remove } = temporaryFolder()
    const path = join(folder, 'svc.db')
    copyFileSync(from, path)
    const storage = await openSqlite({ path, now })
    return {
      storage,
      folder,
      close: async (keep) => {
        await storage.close()
        if (keep !== undefined) copyFileSync(path, keep)
        remove()
      },
    }
  },
}

const keptName = (path: string): string =>
  `kept_${sha256(path)
    .slice(0, 12)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '_')}`

const postgres: Engine = {
  create: async () => {
    const name = await copyDatabase('template0')
    return { storage: await openPostgres({ url: databaseUrl(name) }), name }
  },
  open: async (from, now) => {
    const { path: folder, remove } = temporaryFolder()
    const name = await copyDatabase(from.includes('/') ? keptName(from) : from)
    const storage = await openPostgres({ url: databaseUrl(name), now })
    return {
      storage,
      folder,
      close: async (keep) => {
        await storage.close()
        if (keep !== undefined) await copyDatabase(name, keptName(keep))
        await dropDatabase(name)
        remove()
      },
    }
  },
}

const engine = onPostgres() ? postgres : embedded

const create = async () => {
  const { storage, name } = await engine.create()
  const masterKey = randomBytes(32)
  const keyring = await createKeyring(storage, masterKey)
  const vapid = await createVapid(storage, keyring)
  await storage.close()
  return { name, masterKey, vapid }
}

let template: ReturnType<typeof create> | undefined

/**
 * Opens a copy of a store that was closed with `keep`, or of one with its signing key and its VAPID key. That one is
 * created once a worker: migrating a store and generating keys takes longer than most tests.
 */
export const openTestStore = async ({
  from,
  now,
}: {
  from?: string | undefined
  now?: (() => Date) | undefined
}) => {
  const { name, ...keys } = await (template ??= create())
  return { ...keys, ...(await engine.open(from ?? name, now)) }
}
