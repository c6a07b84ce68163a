import { failure } from '../../core/errors.ts'
import * as first from './migrations/0001.ts'
import type { Db } from './schema.ts'

/** Forward only: a released migration never changes; add the next one at the end. */
export const migrations: { up(db: Db): Promise<void> }[] = [first]

export const newestVersion = (): number => migrations.length

export const refuseNewer = (version: number): void => {
  if (version <= newestVersion()) return
  throw failure(
    'store_too_new',
    `A newer svc wrote this store: it has schema ${version}, and this svc knows schemas up to ${newestVersion()}`,
    'Install the newer svc again, or restore the copy from before the upgrade: svc service restore COPY.db --data-dir NEWFOLDER',
  )
}

/** Runs the migrations after schema `from`, inside a transaction. Throws an SvcError if a newer svc wrote the store. */
export const applyMigrations = async (db: Db, from: number): Promise<void> => {
  refuseNewer(from)
  for (const migration of migrations.slice(from)) await migration.up(db)
  await db.deleteFrom('schema_version').execute()
  await db.insertInto('schema_version').values({ version: newestVersion() }).execute()
}
