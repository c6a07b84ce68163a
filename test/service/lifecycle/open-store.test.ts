import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import Libsql from 'libsql'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/core/ids.ts'
import { backup, restore } from '../../../src/service/lifecycle/backup.ts'
import { folderMaintenance } from '../../../src/service/lifecycle/folder-maintenance.ts'
import { newestVersion } from '../../../src/service/storage/migrations.ts'
import { addMigration } from '../next-migration.ts'
import { ask, dataDir, folder, installHooks, start } from '../started.ts'

installHooks()

const quietly = () => folderMaintenance(dataDir, {}, () => undefined)

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

const from = newestVersion()
const copy = (): string => join(dataDir, `upgrade-from-${from}.db`)

/** Leaves the store of an older svc, with an organization; returns its operator key. */
const leaveOlder = async (): Promise<string> => {
  const service = await start()
  const key = service.operatorKey!
  const body = JSON.stringify({ name: 'Acme', slug: 'acme' })
  expect((await ask(service, '/organization/create', key, { method: 'POST', body })).status).toBe(200)
  await service.stop()
  addMigration()
  return key
}

describe('an older store', () => {
  test('is copied, then upgraded, and the log shows it', async () => {
    const key = await leaveOlder()
    const messages: (string | undefined)[] = []
    const service = await start({ log: ({ message }) => messages.push(message) })
    expect(messages).toContain(
      `Upgrading the store from schema ${from} to ${from + 1}. A copy is in ${copy()}`,
    )
    expect(await slugs(service, key)).toEqual(['acme'])
    expect(inStore(store(), 'SELECT version FROM schema_version')).toEqual([{ version: from + 1 }])
    expect(inStore(copy(), 'SELECT version FROM schema_version')).toEqual([{ version: from }])
    expect(inStore(copy(), 'SELECT slug FROM organizations')).toEqual([{ slug: 'acme' }])
    const masterKey = readFileSync(join(dataDir, 'master.key'), 'utf8')
    expect(inStore(copy(), 'SELECT value FROM backup_master_key')).toEqual([{ value: masterKey }])
    expect(statSync(copy()).mode & 0o777).toBe(0o600)
  })

  test('is upgraded once', async () => {
    await leaveOlder()
    await (await start()).stop()
    const messages: (string | undefined)[] = []
    await (await start({ log: ({ message }) => messages.push(message) })).stop()
    expect(messages.filter((message) => message?.startsWith('Upgrading'))).toEqual([])
    expect(readdirSync(dataDir).filter((name) => name.startsWith('upgrade'))).toEqual([basename(copy())])
  })

  test('comes back from its copy', async () => {
    const key = await leaveOlder()
    await (await start()).stop()
    const elsewhere = join(folder, 'elsewhere')
    await restore(copy(), elsewhere)
    expect(await slugs(await start({ dataDir: elsewhere }), key)).toEqual(['acme'])
  })

  test('never replaces an earlier copy', async () => {
    await leaveOlder()
    writeFileSync(copy(), 'an earlier one')
    expect(await quietly().migrate()).toEqual({
      from,
      to: from + 1,
      copy: join(dataDir, `upgrade-from-${from}-2.db`),
    })
    expect(readFileSync(copy(), 'utf8')).toBe('an earlier one')
  })

  test('is copied by a new operator key too, which reports it', async () => {
    await leaveOlder()
    const said: string[] = []
    await folderMaintenance(dataDir, {}, (line) => said.push(line)).resetOperatorKey()
    expect(said).toEqual([expect.stringContaining(copy())])
    expect(readdirSync(dataDir)).toContain(basename(copy()))
  })

  test('stays as it is when an upgrade fails', async () => {
    await leaveOlder()
    // The next migration creates this table.
    change(store(), 'CREATE TABLE later (id INTEGER)')
    await expect(start()).rejects.toMatchObject({
      name: 'SvcError',
      code: 'upgrade_failed',
      hint: expect.stringContaining(copy()),
    })
    expect(inStore(store(), 'SELECT version FROM schema_version')).toEqual([{ version: from }])
    expect(inStore(store(), 'SELECT slug FROM organizations')).toEqual([{ slug: 'acme' }])
  })
})

describe('a store that cannot be used', () => {
  test('of a newer svc is refused and not changed', async () => {
    await (await start()).stop()
    change(store(), 'UPDATE schema_version SET version = 99; PRAGMA wal_checkpoint(TRUNCATE)')
    const before = kept()
    for (const attempt of [start, () => quietly().migrate(), () => quietly().resetOperatorKey()])
      await expect(attempt()).rejects.toMatchObject({
        code: 'store_too_new',
        message: `A newer svc wrote this store: it has schema 99, and this svc knows schemas up to ${newestVersion()}`,
      })
    expect(kept()).toEqual(before)
  })

  test.each(['DELETE FROM schema_version', 'UPDATE schema_version SET version = 0'])(
    'is not migrated again when its version is lost: %s',
    async (sql) => {
      await (await start()).stop()
      change(store(), sql)
      await expect(start()).rejects.toMatchObject({ code: 'store_damaged' })
    },
  )

  test('of another program is refused and not changed', async () => {
    mkdirSync(dataDir)
    change(store(), 'CREATE TABLE notes (text TEXT)')
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
    await expect(quietly().resetOperatorKey()).rejects.toMatchObject(refused)
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
