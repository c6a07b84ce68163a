import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dataDir, folder, installHooks, start } from '../started.ts'

installHooks()

describe('a folder that is not a data folder', () => {
  test('is refused before anything in it is changed', async () => {
    mkdirSync(dataDir)
    chmodSync(dataDir, 0o777)
    for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt']) writeFileSync(join(dataDir, name), name)
    await expect(start()).rejects.toMatchObject({
      name: 'SvcError',
      code: 'foreign_data_dir',
      message: `${dataDir} is not a data folder of svc: it contains a.txt, b.txt, c.txt and 1 more. Nothing was changed`,
      hint: `Use a separate folder: --data-dir ${dataDir}/svc`,
    })
    expect(statSync(dataDir).mode & 0o777).toBe(0o777)
    expect(readdirSync(dataDir)).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt'])
  })

  test('is refused when it is shared with other users, as /tmp is', async () => {
    mkdirSync(dataDir)
    chmodSync(dataDir, 0o1777)
    await expect(start()).rejects.toMatchObject({ code: 'foreign_data_dir' })
    expect(statSync(dataDir).mode & 0o1777).toBe(0o1777)
  })

  test.each([
    ['a file', () => dataDir],
    ['below a file', () => join(dataDir, 'svc')],
  ])('is refused when it is %s', async (_, dir) => {
    writeFileSync(dataDir, '')
    await expect(start({ dataDir: dir() })).rejects.toMatchObject({
      code: 'data_dir_unusable',
      hint: expect.stringContaining('--data-dir NEWFOLDER'),
    })
  })
})

// Only root can give a folder to somebody else, and only root could use it then.
describe.runIf(process.getuid?.() === 0)('a folder of another user', () => {
  test('is refused while it is empty, and stays as it is', async () => {
    mkdirSync(dataDir, { mode: 0o755 })
    chownSync(dataDir, 12_345, 12_345)
    await expect(start()).rejects.toMatchObject({
      code: 'foreign_data_dir',
      message: `${dataDir} belongs to another user (uid 12345). Nothing was changed`,
      hint: expect.stringContaining(`chown 0 ${dataDir}`),
    })
    expect([statSync(dataDir).mode & 0o777, readdirSync(dataDir)]).toEqual([0o755, []])
  })

  test('is refused with the store in it: its files would become those of root', async () => {
    await (await start()).stop()
    for (const name of ['', ...readdirSync(dataDir)]) chownSync(join(dataDir, name), 12_345, 12_345)
    const before = readdirSync(dataDir)
    await expect(start()).rejects.toMatchObject({ code: 'foreign_data_dir' })
    expect(readdirSync(dataDir)).toEqual(before)
  })
})

describe('a new data folder', () => {
  test('may be an empty file system', async () => {
    mkdirSync(join(dataDir, 'lost+found'), { recursive: true })
    expect((await start()).operatorKey).toBeDefined()
  })

  test('can contain the files of an interrupted first start', async () => {
    mkdirSync(dataDir)
    for (const name of ['lock', 'server.pid']) writeFileSync(join(dataDir, name), '')
    expect((await start()).operatorKey).toBeDefined()
  })
})

describe('a data folder with a file missing', () => {
  test('is refused without its store, and gets no new one', async () => {
    await (await start()).stop()
    rmSync(join(dataDir, 'svc.db'))
    await expect(start()).rejects.toMatchObject({
      code: 'store_missing',
      hint: expect.stringMatching(/svc service restore .* remove master\.key/),
    })
    expect(readdirSync(dataDir)).not.toContain('svc.db')
  })

  test('is refused without its master key, and gets no new one', async () => {
    await (await start()).stop()
    const [key, aside] = [join(dataDir, 'master.key'), join(folder, 'aside')]
    renameSync(key, aside)
    await expect(start()).rejects.toMatchObject({
      code: 'no_master_key',
      message: `The master key of this store is missing: ${key}`,
    })
    renameSync(aside, key)
    expect((await start()).operatorKey).toBeUndefined()
  })
})
