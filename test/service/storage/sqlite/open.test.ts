import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import Libsql from 'libsql'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Db } from '../../../../src/service/storage/schema.ts'
import { openSqlite } from '../../../../src/service/storage/sqlite/open.ts'
import type { Storage } from '../../../../src/service/storage/storage.ts'
import { temporaryFolder } from '../../../temporary-folder.ts'

let folder: string
let remove: () => void
let path: string
let storage: Storage
beforeEach(async () => {
  ;({ path: folder, remove } = temporaryFolder())
  path = join(folder, 'svc.db')
  storage = await openSqlite({ path })
})
afterEach(async () => {
  await storage.close()
  remove()
})

const add = async (db: Db, slug: string): Promise<number> => {
  const now = storage.now()
  const { id } = await db
    .insertInto('organizations')
    .values({ name: slug, slug, policy: '{}', created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
const slugs = () =>
  storage.read(async (db) =>
    (await db.selectFrom('organizations').select('slug').orderBy('id').execute()).map(({ slug }) => slug),
  )

/** Three writes at once; the second runs `fails`. Returns how often each ran. */
const writeAround = async (fails: (db: Db) => Promise<unknown>, name = ''): Promise<number[]> => {
  const runs = [0, 0, 0]
  const error = new Error('refused')
  const works = [
    (db: Db) => add(db, `first${name}`),
    async (db: Db) => {
      await fails(db)
      throw error
    },
    (db: Db) => add(db, `last${name}`),
  ]
  const results = await Promise.allSettled(
    works.map((work, at) =>
      storage.write(
        async (db) => {
          runs[at]! += 1
          return work(db)
        },
        { org: 0 },
      ),
    ),
  )
  expect(results).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: error },
    { status: 'fulfilled' },
  ])
  return runs
}

const unavailable = { name: 'Refusal', status: 503, code: 'storage_unavailable' }

describe('writes', () => {
  test('writes that wait together are one commit', async () => {
    const before = storage.revision()
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => storage.write((db) => add(db, `org-${i}`), { org: 0 })),
    )
    expect(storage.revision()).toBe(before + 1)
    expect(await slugs()).toHaveLength(50)
  })

  describe('that wait together, of which one fails', () => {
    test('all run once if it fails before it writes', async () => {
      expect(await writeAround((db) => db.selectFrom('organizations').select('slug').execute())).toEqual([
        1, 1, 1,
      ])
      expect(await slugs()).toEqual(['first', 'last'])
    })

    test('all run again if it fails after it has written, and only its rows are undone', async () => {
      expect(await writeAround((db) => add(db, 'lost'))).toEqual([2, 2, 1])
      expect(await slugs()).toEqual(['first', 'last'])
    })

    test('run once while failures are frequent', async () => {
      await writeAround((db) => add(db, 'lost'))
      expect(await writeAround((db) => add(db, 'lost'), '-again')).toEqual([1, 1, 1])
      expect(await slugs()).toEqual(['first', 'last', 'first-again', 'last-again'])
    })
  })

  test('a write is on the disk before it is answered', async () => {
    await storage.write((db) => add(db, 'kept'), { org: 0 })
    const other = new Libsql(path)
    const rows = other.prepare('SELECT slug FROM organizations').all([])
    other.close()
    expect(rows).toEqual([{ slug: 'kept' }])
  })

  test('rejects a write on a full disk and leaves nothing; the store continues', async () => {
    await storage.write((db) => add(db, 'before'), { org: 0 })
    await storage.write(
      async (db) => {
        const { rows } = await sql<{ page_count: number }>`PRAGMA page_count`.execute(db)
        await sql.raw(`PRAGMA max_page_count = ${rows[0]!.page_count}`).execute(db)
      },
      { org: 0 },
    )
    await expect(storage.write((db) => add(db, 'x'.repeat(100_000)), { org: 0 })).rejects.toMatchObject(
      unavailable,
    )
    expect(await slugs()).toEqual(['before'])
    await storage.write((db) => sql.raw('PRAGMA max_page_count = 1000000').execute(db), { org: 0 })
    await storage.write((db) => add(db, 'after'), { org: 0 })
    expect(await slugs()).toEqual(['before', 'after'])
  })

  test('a commit that fails refuses every write of it and keeps nothing', async () => {
    const results = await Promise.allSettled([
      storage.write((db) => add(db, 'innocent'), { org: 0 }),
      storage.write(
        async (db) => {
          // Found out only at the commit.
          await sql`PRAGMA defer_foreign_keys = ON`.execute(db)
          await sql`INSERT INTO idp_credentials VALUES (77, 'p', 'c', 'w', 't')`.execute(db)
        },
        { org: 0 },
      ),
    ])
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: unavailable })
    expect(await slugs()).toEqual([])
    await storage.write((db) => add(db, 'after'), { org: 0 })
    expect(await slugs()).toEqual(['after'])
  })

  test('nothing can be written through a read', async () => {
    await expect(storage.read((db) => add(db, 'sneaky'))).rejects.toMatchObject({
      cause: { code: 'SQLITE_READONLY' },
    })
    expect(await slugs()).toEqual([])
  })

  test('a value that is undefined is an error, a boolean is 0 or 1', async () => {
    await expect(
      storage.write((db) => sql`INSERT INTO people (mobile) VALUES (${undefined})`.execute(db), { org: 0 }),
    ).rejects.toThrow('undefined')
    const { rows } = await storage.read((db) => sql`SELECT ${true} AS yes, ${false} AS no`.execute(db))
    expect(rows).toEqual([{ yes: 1, no: 0 }])
  })
})

test('after it is closed, the file alone is the whole store', async () => {
  await storage.write((db) => add(db, 'a'), { org: 0 })
  await storage.close()
  copyFileSync(path, join(folder, 'copy.db'))
  storage = await openSqlite({ path: join(folder, 'copy.db') })
  expect(await slugs()).toEqual(['a'])
})

describe('the tables', () => {
  test('only their owner can read the files of the store, under any umask', async () => {
    await storage.close()
    const before = process.umask(0)
    try {
      path = join(folder, 'open.db')
      storage = await openSqlite({ path })
      await storage.write((db) => add(db, 'a'), { org: 0 })
    } finally {
      process.umask(before)
    }
    const modes = readdirSync(folder)
      .filter((name) => name.startsWith('open.db'))
      .map((name) => statSync(join(folder, name)).mode & 0o777)
    expect(modes).toEqual([0o600, 0o600, 0o600])
  })

  test('a process that opens and closes the store deletes nothing of it', async () => {
    await storage.write((db) => add(db, 'before'), { org: 0 })
    const looks = `const db = new (require('libsql'))(${JSON.stringify(path)}); db.prepare('SELECT count(*) FROM organizations').all(); db.close()`
    const child = spawn(process.execPath, ['-e', looks], { cwd: import.meta.dirname, stdio: 'inherit' })
    expect(await once(child, 'exit')).toEqual([0, null])
    await storage.write((db) => add(db, 'after'), { org: 0 })
    // As after kill -9: only the files, not the process that has them open.
    for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join(folder, `copy-${name}`))
    const copy = await openSqlite({ path: join(folder, 'copy-svc.db') })
    const kept = await copy.read((db) =>
      db.selectFrom('organizations').select('slug').orderBy('id').execute(),
    )
    await copy.close()
    expect(kept.map(({ slug }) => slug)).toEqual(['before', 'after'])
  })

  test('a store is opened again as it is, and refused when a newer svc wrote it', async () => {
    await storage.write((db) => add(db, 'a'), { org: 0 })
    await storage.close()
    storage = await openSqlite({ path })
    expect(await slugs()).toEqual(['a'])
    const raw = new Libsql(path)
    raw.exec('UPDATE schema_version SET version = 99')
    raw.close()
    await expect(openSqlite({ path })).rejects.toMatchObject({ name: 'SvcError', code: 'store_too_new' })
  })
})

test('a store to which another program added a trigger does not open', async () => {
  const copy = join(folder, 'copy.db')
  await storage.close()
  copyFileSync(path, copy)
  const other = new Libsql(copy)
  other.exec('CREATE TRIGGER quiet AFTER INSERT ON audit BEGIN DELETE FROM audit WHERE id = new.id; END')
  other.close()
  await expect(openSqlite({ path: copy })).rejects.toMatchObject({
    code: 'database_altered',
    message: expect.stringContaining('trigger quiet on audit'),
  })
  storage = await openSqlite({ path })
})
