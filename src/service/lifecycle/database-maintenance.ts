import { chmodSync, copyFileSync, existsSync, linkSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Env } from '../../core/env.ts'
import { failure } from '../../core/errors.ts'
import { addMs } from '../../core/iso-time.ts'
import { keyOpens, readMarker } from '../custody/master-key.ts'
import { rotateMasterKey } from '../custody/rotate-master-key.ts'
import { rotateSigningKey } from '../custody/signing-keys.ts'
import { newestVersion } from '../storage/migrations.ts'
import { openPostgres } from '../storage/postgres/open.ts'
import * as database from '../storage/postgres/whole.ts'
import { isOfFile } from '../storage/sqlite/errors.ts'
import { openSqlite } from '../storage/sqlite/open.ts'
import { openSnapshot } from '../storage/sqlite/snapshot.ts'
import * as embedded from '../storage/sqlite/whole.ts'
import { type Storage, useStorage } from '../storage/storage.ts'
import { copyStore, type WholeStore } from '../storage/whole-store.ts'
import { badBackup, fileExists, requireBackup, writeFailed } from './backup.ts'
import { noteBackup } from '../storage/last-backup.ts'
import { type Returned, settleRestored } from './restored.ts'
import { replaceOperatorKeys } from './operator-keys.ts'
import { nameOfPlace, openSharedKeyring, requireMasterKey } from './place.ts'
import type { Maintenance } from './store-maintenance.ts'

/** Runs `work` on a store that nodes may use. */
const useDatabase = async <T>(url: string, work: (storage: Storage) => Promise<T>): Promise<T> => {
  database.requireSchema((await database.inspectDatabase(url)).version)
  return useStorage(await openPostgres({ url, connections: 2 }), work)
}

type Parts = Parameters<typeof replaceOperatorKeys>[0]

/** As `useDatabase`, with its keyring. */
const useKeyring = <T>(url: string, env: Env, work: (parts: Parts) => Promise<T>): Promise<T> => {
  const masterKey = requireMasterKey(env)
  return useDatabase(url, async (storage) =>
    work({ storage, keyring: await openSharedKeyring(storage, masterKey) }),
  )
}

/** Longer than a node takes between its reports. */
const aliveMs = 30_000

/** A node with the old key could neither read what the rotation wrote nor write what the others accept. */
const requireNoNodes = async (storage: Storage): Promise<void> => {
  const alive = await storage.read((db) =>
    db
      .selectFrom('nodes')
      .where('seen_at', '>', addMs(storage.now(), -aliveMs))
      .orderBy('address')
      .select('address')
      .execute(),
  )
  if (alive.length > 0)
    throw failure(
      'nodes_running',
      `Nodes use this database: ${alive.map(({ address }) => address).join(', ')}`,
      'Stop every node first. One that was killed counts as running for 30 seconds',
    )
}

const backup = async (url: string, file: string): Promise<void> => {
  if (existsSync(file)) throw fileExists(file)
  const partial = `${file}.partial`
  try {
    rmSync(partial, { force: true })
    const copy = (from: WholeStore): Promise<unknown> =>
      embedded
        .createWhole(partial, (to) => copyStore(from, to))
        .catch((error: unknown) => {
          throw isOfFile(error) ? writeFailed(file, error) : error
        })
    await database.readWhole(url, copy)
    embedded.sealWhole(partial)
    // Unlike a rename, a link never replaces a file that was created in the meantime.
    linkSync(partial, file)
  } catch (error) {
    throw writeFailed(file, error)
  } finally {
    for (const rest of ['', '-wal', '-shm']) rmSync(`${partial}${rest}`, { force: true })
  }
}

const keyOfBackup =
  'Set SVC_MASTER_KEY to the key that the service had when the backup was made; for a data folder without the variable, that is the text of its file master.key'

/** Throws an SvcError unless SVC_MASTER_KEY opens the store of a backup. A store that never started has no marker. */
const requireItsKey = async (storage: Storage, masterKey: Buffer, inFile: boolean): Promise<void> => {
  const marker = await storage.read(readMarker)
  if (marker === undefined || keyOpens(masterKey, marker)) return
  throw failure(
    'wrong_master_key',
    'SVC_MASTER_KEY is not the master key of this backup; nothing was restored',
    inFile
      ? 'The backup contains its key: restore it into a folder, and set SVC_MASTER_KEY to the text of master.key there'
      : 'Set it to the key that the service had when the backup was made',
  )
}

/** Restores into an empty database, in one transaction. The backup is unpacked in a private folder first. */
const restore = async (url: string, file: string, masterKey: Buffer): Promise<Returned> => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-restore-'))
  const path = join(folder, 'svc.db')
  try {
    copyFileSync(file, path)
    chmodSync(path, 0o600)
    const inFile = openSnapshot(path) !== undefined
    const returned = await useStorage(await openSqlite({ path }), async (storage) => {
      await requireItsKey(storage, masterKey, inFile)
      return settleRestored(storage)
    })
    await embedded.readWhole(path, (from) => database.createWhole(url, (to) => copyStore(from, to)))
    return returned
  } catch (error) {
    throw badBackup(file, error)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Maintenance of a store in a database. Nodes can keep running, except for `rotateMasterKey`. */
export const databaseMaintenance = (url: string, env: Env): Maintenance => {
  const requireStore = async (): Promise<void> =>
    database.requireSchema((await database.inspectDatabase(url)).version)
  const useIdle = <T>(work: (storage: Storage) => Promise<T>): Promise<T> =>
    useDatabase(url, async (storage) => {
      await requireNoNodes(storage)
      return work(storage)
    })
  return {
    place: { database: nameOfPlace({ databaseUrl: url }) },
    checkBackup: async (file) => {
      if (existsSync(file)) throw fileExists(file)
      await requireStore()
    },
    backup: async (file) => {
      await backup(url, file)
      // It exists, also if that cannot be noted.
      await useDatabase(url, noteBackup).catch(() => undefined)
    },
    checkRestore: async (file) => {
      requireBackup(file)
      requireMasterKey(env, keyOfBackup)
      await database.checkEmpty(url)
    },
    restore: async (file) => {
      requireBackup(file)
      const masterKey = requireMasterKey(env, keyOfBackup)
      await database.checkEmpty(url)
      return restore(url, file, masterKey)
    },
    plannedUpgrade: async () => ({
      from: (await database.inspectDatabase(url)).version,
      to: newestVersion(),
    }),
    migrate: async () => {
      const change = await database.migrateDatabase(url)
      return change.from === change.to ? undefined : change
    },
    checkSettle: () => useDatabase(url, requireNoNodes),
    settle: () => useIdle(settleRestored),
    checkReset: requireStore,
    resetOperatorKey: () => useKeyring(url, env, replaceOperatorKeys),
    checkRotation: requireStore,
    rotateSigningKey: (from) => useKeyring(url, env, (parts) => rotateSigningKey(parts, from)),
    checkMasterKeyRotation: () => useDatabase(url, requireNoNodes),
    rotateMasterKey: (newKey) => {
      requireMasterKey(env)
      return useIdle((storage) => rotateMasterKey(storage, undefined, env, newKey))
    },
  }
}
