import { join } from 'node:path'
import { openPostgres } from '../../../src/service/storage/postgres/open.ts'
import { openSqlite } from '../../../src/service/storage/sqlite/open.ts'
import type { Storage } from '../../../src/service/storage/storage.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { copyDatabase, databaseUrl, dropDatabase, onPostgres } from './postgres-databases.ts'

/** An empty store of an engine, and how to open it once more. */
export type OpenedEngine = {
  storage: Storage
  /** Closes the store and opens it again, as a new process would. */
  reopen(): Promise<Storage>
  /** Opens the store beside the open one, as another node would. */
  openNode(now?: () => Date): Promise<Storage>
  remove(): Promise<void>
}

export type Engine = {
  name: string
  /** Whether several nodes can open a store. */
  shared: boolean
  open(now?: () => Date): Promise<OpenedEngine>
}

type Place = { open(now?: () => Date): Promise<Storage>; remove(): void | Promise<void> }

const engine = (name: string, shared: boolean, prepare: () => Place | Promise<Place>): Engine => ({
  name,
  shared,
  open: async (now) => {
    const place = await prepare()
    let storage = await place.open(now)
    const nodes: Storage[] = []
    return {
      storage,
      reopen: async () => {
        await storage.close()
        storage = await place.open(now)
        return storage
      },
      openNode: async (clock) => {
        const node = await place.open(clock)
        nodes.push(node)
        return node
      },
      remove: async () => {
        // Already closed if it could not be opened again, or by the test.
        for (const open of [storage, ...nodes]) await open.close().catch(() => undefined)
        await place.remove()
      },
    }
  },
})

const embedded = engine('embedded', false, () => {
  const { path, remove } = temporaryFolder()
  return { open: (now) => openSqlite({ path: join(path, 'svc.db'), now }), remove }
})

const postgres = engine('PostgreSQL', true, async () => {
  const name = await copyDatabase('svc_template')
  return {
    open: (now) => openPostgres({ url: databaseUrl(name), now }),
    remove: () => dropDatabase(name),
  }
})

/** Every engine passes the suite in `port.test.ts`. `npm run test:postgres` adds PostgreSQL. */
export const engines: Engine[] = [embedded, ...(onPostgres() ? [postgres] : [])]
