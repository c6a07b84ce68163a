import { join } from 'node:path'
import { openSqlite } from '../../../src/service/storage/sqlite/open.ts'
import type { Storage } from '../../../src/service/storage/storage.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

/** An empty store of an engine, and how to open it once more. */
export type OpenedEngine = {
  storage: Storage
  /** Closes the store and opens it again, as a new process would. */
  reopen(): Promise<Storage>
  remove(): Promise<void>
}

export type Engine = { name: string; open(now?: () => Date): Promise<OpenedEngine> }

/** Every engine passes the suite in `port.test.ts`. */
export const engines: Engine[] = [
  {
    name: 'embedded',
    open: async (now) => {
      const folder = temporaryFolder()
      const path = join(folder.path, 'svc.db')
      let storage = await openSqlite({ path, now })
      return {
        storage,
        reopen: async () => {
          await storage.close()
          storage = await openSqlite({ path, now })
          return storage
        },
        remove: async () => {
          // Already closed if it could not be opened again.
          await storage.close().catch(() => undefined)
          folder.remove()
        },
      }
    },
  },
]
