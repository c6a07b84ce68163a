import { randomBytes } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import { createKeyring } from '../../src/service/custody/create-keyring.ts'
import { ensureOperatorKey } from '../../src/service/lifecycle/operator-keys.ts'
import { createVapid } from '../../src/service/page/push/vapid.ts'
import { openPostgres } from '../../src/service/storage/postgres/open.ts'
import { openSqlite } from '../../src/service/storage/sqlite/open.ts'
import type { Storage } from '../../src/service/storage/storage.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { onPostgres } from './storage/postgres-databases.ts'
import { borrowDatabase } from './storage/postgres-recycled.ts'

// oxlint-disable-next-line no-explicit-any -- tests read what the store contains
type Row = Record<string, any>

type Open = {
  storage: Storage
  /** Runs SQL as another program would: without the service and its master key. Each `?` is a value. */
  runSql(sql: string, values?: unknown[]): Promise<Row[]>
  tables: readonly string[]
  /** How the store finds the rows of a query, in the words of its engine. */
  explain(query: string): Promise<string>
  /** The same store once more, as another node opens it. Only on PostgreSQL. */
  share(now?: () => Date): Promise<Storage>
  close(keep?: string): Promise<void>
}

/** The engine of the tests. Opens a copy of the store that was closed with `keep`, or an empty one. */
type Engine = (folder: string, from?: string, now?: () => Date) => Promise<Open>

let embeddedTables: readonly string[] | undefined

const openEmbedded: Engine = async (folder, from, now) => {
  const path = join(folder, 'svc.db')
  if (from !== undefined) copyFileSync(from, path)
  const storage = await openSqlite({ path, now })
  const runSql: Open['runSql'] = async (sql, values = []) => {
    const database = new Libsql(path)
    try {
      const statement = database.prepare(sql)
      if (statement.reader) return statement.all(values) as Row[]
      statement.run(values)
      return []
    } finally {
      database.close()
    }
  }
  embeddedTables ??= (
    await runSql("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
  ).map(({ name }) => name as string)
  return {
    storage,
    runSql,
    tables: embeddedTables,
    explain: async (query) =>
      (await runSql(`EXPLAIN QUERY PLAN ${query}`)).map(({ detail }) => detail).join('; '),
    share: () => Promise.reject(new Error('the embedded store belongs to one process')),
    close: async (keep) => {
      await storage.close()
      if (keep !== undefined) copyFileSync(path, keep)
    },
  }
}

/** What a store that was closed with `keep` contained, as SQL, by its path. */
const kept = new Map<string, string>()

const openOnPostgres: Engine = async (_folder, from, now) => {
  const content = from === undefined ? undefined : kept.get(from)
  if (from !== undefined && content === undefined) throw new Error(`no store was kept in ${from}`)
  const { url, storage, runSql, tables, explain, dump, giveBack } = await borrowDatabase(now, content)
  return {
    storage,
    runSql,
    tables,
    explain,
    share: (again) => openPostgres({ url, now: again }),
    close: async (keep) => {
      await storage.close()
      if (keep !== undefined) kept.set(keep, await dump())
      await giveBack()
    },
  }
}

const openIn = async (from?: string, now?: () => Date) => {
  const { path: folder, remove } = temporaryFolder()
  const open = await (onPostgres() ? openOnPostgres : openEmbedded)(folder, from, now)
  return {
    ...open,
    folder,
    close: async (keep?: string): Promise<void> => {
      await open.close(keep)
      remove()
    },
  }
}

const createTemplate = async () => {
  const { path: folder, remove } = temporaryFolder()
  process.once('exit', remove)
  const path = join(folder, 'template.db')
  const { storage, close } = await openIn()
  const masterKey = randomBytes(32)
  const keyring = await createKeyring(storage, masterKey)
  const vapid = await createVapid(storage, keyring)
  const operatorKey = (await ensureOperatorKey({ storage, keyring }))!
  await close(path)
  return { path, masterKey, vapid, operatorKey }
}

let template: ReturnType<typeof createTemplate> | undefined

export type TestStore = Awaited<ReturnType<typeof openTestStore>>

/** Opens the store of another node, which must close last. */
export const shareTestStore = async (store: TestStore, now?: () => Date): Promise<TestStore> => {
  const storage = await store.share(now)
  return { ...store, storage, close: storage.close }
}

/**
 * Opens a copy of a store that was closed with `keep`, or of one with its signing key, its VAPID key and its operator key.
 * That one is created once a worker: migrating a store and generating keys takes longer than most tests.
 */
export const openTestStore = async ({
  from,
  now,
}: {
  from?: string | undefined
  now?: (() => Date) | undefined
}) => {
  const { path, ...keys } = await (template ??= createTemplate())
  return { ...keys, ...(await openIn(from ?? path, now)) }
}
