import { afterEach, beforeEach } from 'vitest'
import type { Db } from '../../../src/service/storage/schema.ts'
import type { Storage } from '../../../src/service/storage/storage.ts'
import { createClock } from '../clock.ts'
import type { Engine, OpenedEngine } from './engines.ts'

// After `installHooks`, each test has an empty store of an engine.

export const at = '2030-01-31T12:00:00.000Z'
/** The writes of these tests belong to the service. */
export const org = 0

export const clock = createClock(at)
export let storage: Storage
let engine: OpenedEngine

/** Installs the hooks that open the store and remove it. */
export const installHooks = ({ open }: Engine): void => {
  beforeEach(async () => {
    engine = await open(clock.now)
    storage = engine.storage
  })
  afterEach(() => engine.remove())
}

/** Closes the store and opens it again. */
export const reopen = async (): Promise<void> => {
  storage = await engine.reopen()
}

/** Opens the store beside the open one, as another node would. */
export const openNode = (now: () => Date): Promise<Storage> => engine.openNode(now)

/** Adds an organization. */
export const add = async (db: Db, slug: string): Promise<number> => {
  const { id } = await db
    .insertInto('organizations')
    .values({ name: slug, slug, policy: '{}', created_at: at, updated_at: at })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
export const readSlugs = async (db: Db): Promise<string[]> =>
  (await db.selectFrom('organizations').select('slug').orderBy('id').execute()).map(({ slug }) => slug)
export const slugs = () => storage.read(readSlugs)
