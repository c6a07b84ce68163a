import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createKeyring } from '../../../../src/service/custody/create-keyring.ts'
import { decodeMasterKey } from '../../../../src/service/custody/master-key.ts'
import { backup, restore } from '../../../../src/service/lifecycle/backup.ts'
import { folderMaintenance } from '../../../../src/service/lifecycle/folder-maintenance.ts'
import { openSqlite } from '../../../../src/service/storage/sqlite/open.ts'
import { dataDir, folder, get, installHooks, notify, start } from './stopped-service.ts'
import { openAll } from '../kept-values.ts'
import { changeStore } from './store-changes.ts'

installHooks()

const keyFile = (dir = dataDir): string => join(dir, 'master.key')
const pending = (): string => join(dataDir, 'master.key.next')
const readKey = (dir = dataDir): string => readFileSync(keyFile(dir), 'utf8')
const rotate = (newKey?: string, env = {}) => folderMaintenance(dataDir, env, notify).rotateMasterKey(newKey)

const valuesUnder = async (masterKey: string, dir = dataDir) => {
  const storage = await openSqlite({ path: join(dir, 'svc.db') })
  try {
    return await openAll(storage, await createKeyring(storage, decodeMasterKey(masterKey, 'the test')))
  } finally {
    await storage.close()
  }
}

/** The folder after a rotation that was interrupted between its commit and the replacement of the key file. */
const breakOff = async (): Promise<{ old: string; next: string }> => {
  const old = readKey()
  await rotate()
  const next = readKey()
  writeFileSync(keyFile(), old)
  writeFileSync(pending(), next, { mode: 0o600 })
  return { old, next }
}

describe('a new master key', () => {
  test('opens every value of the store, and the old one opens none', async () => {
    const old = readKey()
    const before = await valuesUnder(old)
    expect([...before.values()]).not.toContain(undefined)
    expect(await rotate()).toEqual({ state: 'rotated', values: before.size, left_out: [] })
    const next = readKey()
    expect(next).not.toBe(old)
    const after = await valuesUnder(next)
    before.delete('custody')
    after.delete('custody')
    expect(after).toEqual(before)
    await expect(valuesUnder(old)).rejects.toMatchObject({ code: 'wrong_master_key' })
  })

  test('does not affect API keys and receipts', async () => {
    const kids = changeStore(dataDir, 'SELECT kid FROM signing_keys')
    await rotate()
    const service = await start()
    expect((await get(service, '/svc/v1/audit/head'))[0]).toBe(200)
    const [, { keys }] = await get(service, '/.well-known/jwks.json')
    expect(keys.map(({ kid }) => ({ kid }))).toEqual(kids)
  })

  test('does not make an altered row authentic', async () => {
    changeStore(dataDir, "UPDATE signing_keys SET created_at = '2020-01-01T00:00:00.000Z'")
    changeStore(dataDir, "UPDATE api_keys SET name = 'x' WHERE id = 1")
    const { left_out } = await rotate()
    expect(left_out).toEqual([expect.stringMatching(/^signing_keys:/), 'api_keys:1'])
    const service = await start()
    expect((await get(service, '/svc/v1/whoami'))[0]).toBe(401)
    expect((await get(service, '/.well-known/jwks.json'))[1]).toMatchObject({ keys: [] })
  })

  test('adds an audit row', async () => {
    await rotate()
    expect(changeStore(dataDir, "SELECT actor FROM audit WHERE action = 'rotateMasterKey'")).toEqual([
      { actor: 'service' },
    ])
  })

  test('can be passed, and passing it again changes nothing', async () => {
    const newKey = randomBytes(32).toString('hex')
    expect(await rotate(newKey)).toMatchObject({ state: 'rotated' })
    expect(Buffer.from(readKey(), 'base64').toString('hex')).toBe(newKey)
    expect(await rotate(newKey)).toMatchObject({ state: 'unchanged', values: 0 })
  })

  test('must be a key', async () => {
    const before = readKey()
    await expect(rotate('secret')).rejects.toMatchObject({
      code: 'bad_master_key',
      message: expect.stringContaining('--new-key-file'),
    })
    expect(readKey()).toBe(before)
  })

  test('is refused while the service runs', async () => {
    await start()
    await expect(rotate()).rejects.toMatchObject({ code: 'data_dir_in_use' })
  })
})

describe('an interrupted rotation', () => {
  test('after its commit is finished by the next start', async () => {
    const { next } = await breakOff()
    const service = await start()
    expect((await get(service, '/svc/v1/whoami'))[0]).toBe(200)
    expect([readKey(), existsSync(pending())]).toEqual([next, false])
  })

  test('after its commit is finished, not restarted, by the same command', async () => {
    const { next } = await breakOff()
    expect(await rotate()).toMatchObject({ state: 'finished' })
    expect([readKey(), existsSync(pending())]).toEqual([next, false])
    expect([...(await valuesUnder(next)).values()]).not.toContain(undefined)
  })

  test('before its commit has changed nothing', async () => {
    const old = readKey()
    writeFileSync(pending(), `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
    await start()
    expect([readKey(), existsSync(pending())]).toEqual([old, false])
  })

  test('while it wrote the next key has changed nothing', async () => {
    const old = readKey()
    writeFileSync(pending(), 'dGhpcyB', { mode: 0o600 })
    await start()
    expect([readKey(), existsSync(pending())]).toEqual([old, false])
  })

  test('is backed up with the key that opens the store', async () => {
    const { next } = await breakOff()
    backup(dataDir, join(folder, 'copy'))
    await restore(join(folder, 'copy'), join(folder, 'elsewhere'))
    expect(readKey(join(folder, 'elsewhere'))).toBe(next)
    expect([...(await valuesUnder(next, join(folder, 'elsewhere'))).values()]).not.toContain(undefined)
  })

  test('deletes no key if neither opens the store', async () => {
    await breakOff()
    changeStore(dataDir, "UPDATE settings SET value = 'v2.a.b.c' WHERE name = 'custody'")
    await expect(start()).rejects.toMatchObject({ code: 'wrong_master_key' })
    expect(existsSync(pending())).toBe(true)
  })
})

describe('a master key in the environment', () => {
  test('is replaced by the one that is passed, with which the service starts', async () => {
    const env = { SVC_MASTER_KEY: readKey().trim() }
    rmSync(keyFile())
    await expect(rotate(undefined, env)).rejects.toMatchObject({ code: 'new_master_key_required' })
    const newKey = randomBytes(32).toString('hex')
    expect(await rotate(newKey, env)).toMatchObject({ state: 'rotated' })
    expect(await rotate(newKey, env)).toMatchObject({ state: 'unchanged' })
    expect([existsSync(keyFile()), existsSync(pending())]).toEqual([false, false])
    await expect(start(dataDir, env)).rejects.toMatchObject({ code: 'wrong_master_key' })
    const service = await start(dataDir, { SVC_MASTER_KEY: newKey })
    expect((await get(service, '/svc/v1/whoami'))[0]).toBe(200)
  })
})
