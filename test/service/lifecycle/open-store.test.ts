import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/core/ids.ts'
import { backup, migrate, resetOperatorKey, restore } from '../../../src/service/lifecycle/maintenance.ts'
import { newestVersion } from '../../../src/service/storage/migrations.ts'
import { createOlderStore } from '../older-store.ts'
import { ask, dataDir, folder, installHooks, start } from '../started.ts'

installHooks()

const store = (): string => join(dataDir, 'svc.db')
const inStore = <T>(file: string, sql: string): T[] => {
  const database = new Libsql(file)
  try {
    return database.prepare(sql).all([]) as T[]
  } finally {
    database.close()
  }
}
const change = (file: string, sql: string): void => {
  const database = new Libsql(file)
  database.exec(sql)
  database.close()
}
const slugs = async (service: Awaited<ReturnType<typeof start>>, key: string): Promise<string[]> => {
  const { data } = (await (await ask(service, '/organizations', key)).json()) as { data: { slug: string }[] }
  return data.map(({ slug }) => slug)
}
/** The hash of each file in a folder. */
const kept = (dir = dataDir): [name: string, hash: string][] =>
  readdirSync(dir)
    .filter((name) => !/^lock|^server\.pid$|-(?:wal|shm)$/.test(name))
    .map((name) => [name, sha256(readFileSync(join(dir, name), 'latin1'))])

const overwrite = (bytes: Buffer): Buffer => bytes.fill('not a store ', 0, 4096)
const truncate = (bytes: Buffer): Buffer => bytes.subarray(0, 9000)
const zero = (bytes: Buffer): Buffer => bytes.fill(0, 4096)

describe('an older store', () => {
  test('is copied, then upgraded, and the log shows it', async () => {
    const { key, masterKey } = await createOlderStore(dataDir, 7)
    const messages: (string | undefined)[] = []
    const service = await start({ log: ({ message }) => messages.push(message) })
    const copy = join(dataDir, 'upgrade-from-7.db')
    expect(messages).toContain(`Upgrading the store from schema 7 to ${newestVersion}. A copy is in ${copy}`)
    expect(await slugs(service, key)).toEqual(['acme'])
    expect(inStore(copy, 'PRAGMA user_version')).toEqual([{ user_version: 7 }])
    expect(inStore(copy, 'SELECT slug FROM organizations')).toEqual([{ slug: 'acme' }])
    expect(inStore(copy, 'SELECT value FROM backup_master_key')).toEqual([{ value: masterKey }])
    expect(statSync(copy).mode & 0o777).toBe(0o600)
  })

  test('is upgraded once', async () => {
    await createOlderStore(dataDir, 7)
    await (await start()).stop()
    const messages: (string | undefined)[] = []
    await (await start({ log: ({ message }) => messages.push(message) })).stop()
    expect(messages.filter((message) => message?.startsWith('Upgrading'))).toEqual([])
    expect(readdirSync(dataDir).filter((name) => name.startsWith('upgrade'))).toEqual(['upgrade-from-7.db'])
  })

  test('comes back from its copy', async () => {
    const { key } = await createOlderStore(dataDir, 7)
    await (await start()).stop()
    const elsewhere = join(folder, 'elsewhere')
    await restore(join(dataDir, 'upgrade-from-7.db'), elsewhere)
    expect(await slugs(await start({ dataDir: elsewhere }), key)).toEqual(['acme'])
  })

  test('never replaces an earlier copy', async () => {
    await createOlderStore(dataDir, 7)
    writeFileSync(join(dataDir, 'upgrade-from-7.db'), 'an earlier one')
    expect(await migrate(dataDir)).toEqual({
      from: 7,
      to: newestVersion,
      copy: join(dataDir, 'upgrade-from-7-2.db'),
    })
    expect(readFileSync(join(dataDir, 'upgrade-from-7.db'), 'utf8')).toBe('an earlier one')
  })

  test('is copied by a new operator key too', async () => {
    await createOlderStore(dataDir, 7)
    const said: string[] = []
    await resetOperatorKey(dataDir, {}, (line) => said.push(line))
    expect(said).toEqual([
      expect.stringContaining(join(dataDir, 'upgrade-from-7.db')),
      expect.stringContaining('Authenticated the existing rows'),
    ])
    expect(readdirSync(dataDir)).toContain('upgrade-from-7.db')
  })

  test('stays as it is when an upgrade fails', async () => {
    await createOlderStore(dataDir, 7)
    // The next migration makes this table.
    change(store(), 'CREATE TABLE outbox (id INTEGER)')
    await expect(start()).rejects.toMatchObject({
      name: 'SvcError',
      code: 'upgrade_failed',
      hint: expect.stringContaining(join(dataDir, 'upgrade-from-7.db')),
    })
    expect(inStore(store(), 'PRAGMA user_version')).toEqual([{ user_version: 7 }])
    expect(inStore(store(), 'SELECT slug FROM organizations')).toEqual([{ slug: 'acme' }])
  })
})

describe('a store that cannot be used', () => {
  test('of a newer svc is refused and not changed', async () => {
    await (await start()).stop()
    change(store(), 'PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)')
    const before = kept()
    for (const attempt of [start, () => migrate(dataDir), () => resetOperatorKey(dataDir, {})])
      await expect(attempt()).rejects.toMatchObject({
        code: 'store_too_new',
        message: `A newer svc wrote this store: it has schema 99, and this svc knows schemas up to ${newestVersion}`,
      })
    expect(kept()).toEqual(before)
  })

  test.each(['PRAGMA user_version = 0', 'UPDATE schema_version SET version = 0'])(
    'is not migrated again when one of its two versions is lost: %s',
    async (sql) => {
      await (await start()).stop()
      change(store(), sql)
      expect(await migrate(dataDir)).toBeUndefined()
    },
  )

  test('of a newer svc is refused by what svc before schema 21 looked at', async () => {
    await (await start()).stop()
    expect(inStore(store(), 'PRAGMA user_version')).toEqual([{ user_version: newestVersion }])
    expect(inStore(store(), 'SELECT version FROM schema_version')).toEqual([{ version: newestVersion }])
    change(store(), 'UPDATE schema_version SET version = 99')
    await expect(start()).rejects.toMatchObject({ code: 'store_too_new' })
  })

  test.each([0, 3])('of another program is refused and not changed (version %i)', async (version) => {
    mkdirSync(dataDir)
    change(store(), `CREATE TABLE notes (text TEXT); PRAGMA user_version = ${version}`)
    const before = kept()
    await expect(start()).rejects.toMatchObject({ code: 'foreign_store' })
    expect(() => backup(dataDir, join(folder, 'backup.db'))).toThrow('belongs to another program')
    expect(kept()).toEqual(before)
    expect(readdirSync(folder)).toEqual(['data'])
  })

  test.each([
    ['overwritten', overwrite],
    ['cut off', truncate],
    ['full of zeros', zero],
  ])('that is %s is refused, with the way to a backup', async (_, damage) => {
    await (await start()).stop()
    writeFileSync(store(), damage(readFileSync(store())))
    const before = kept()
    const refused = {
      name: 'SvcError',
      code: 'store_damaged',
      hint: expect.stringContaining('svc service restore'),
    }
    await expect(start()).rejects.toMatchObject(refused)
    await expect(resetOperatorKey(dataDir, {})).rejects.toMatchObject(refused)
    expect(() => backup(dataDir, join(folder, 'backup.db'))).toThrow('is damaged')
    expect(kept()).toEqual(before)
  })

  test('that is empty next to its master key is not treated as new', async () => {
    await (await start()).stop()
    writeFileSync(store(), '')
    await expect(start()).rejects.toMatchObject({ code: 'store_missing' })
    expect(statSync(store()).size).toBe(0)
  })
})
