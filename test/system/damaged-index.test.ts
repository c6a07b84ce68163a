import { spawnSync } from 'node:child_process'
import { closeSync, cpSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService, svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { typeRunbook } from './runbook.ts'

// Damages an index of an embedded store, and follows the runbook.

const isThere = spawnSync('sqlite3', ['--version']).status === 0
const folder = temporaryFolder()
const whole = join(folder.path, 'whole')
const key = 'svc_op_endtoend_0123456789012345678901234567890'

const rowsOf = (dir: string): unknown[] => {
  const database = new Libsql(join(dir, 'svc.db'))
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all([])
  const rows = (tables as { name: string }[]).map(({ name }) => [
    name,
    database.prepare(`SELECT * FROM "${name}"`).raw().all([]),
  ])
  database.close()
  return rows
}

/** Copies the store, damages the first page of a table or an index there, and types the runbook. */
const repair = async (name: string) => {
  const dir = join(folder.path, name)
  const repaired = join(folder.path, `${name}-repaired`)
  cpSync(whole, dir, { recursive: true })
  const database = new Libsql(join(whole, 'svc.db'))
  const found = database.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?').all([name])
  database.close()
  const [{ rootpage }] = found as [{ rootpage: number }]
  const file = openSync(join(dir, 'svc.db'), 'r+')
  writeSync(file, Buffer.alloc(200, 0xaa), 0, 200, (rootpage - 1) * 4096)
  closeSync(file)
  const start = await svc(`serve --port 0 --no-profile --data-dir ${dir}`, { SVC_CONFIG_DIR: folder.path })
  expect([start.exit, start.stderr]).toEqual([1, expect.stringContaining('svc.db is damaged')])
  const places = { '/var/lib/svc-repaired': repaired, '/var/lib/svc': dir }
  return { repaired, said: await typeRunbook('sqlite3 ', { places }) }
}

describe.runIf(isThere)('a store with', () => {
  beforeAll(async () => {
    const service = await startService(whole, key)
    const env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key, SVC_CONFIG_DIR: folder.path }
    await svc('org create --name Acme --slug acme', env)
    await service.stop()
  })
  afterAll(folder.remove)

  test.for(['organizations_slug', 'sqlite_autoindex_settings_1'])(
    'the damaged index %s has each row again, and starts',
    async (index) => {
      const { repaired, said } = await repair(index)
      expect(said).toMatch(/^\d+\n$/)
      expect(rowsOf(repaired)).toEqual(rowsOf(whole))
      const service = await startService(repaired, key)
      const env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key, SVC_CONFIG_DIR: folder.path }
      expect((await svc('org list -o json', env)).stdout).toContain('Acme')
      expect(await service.stop()).toBe(0)
    },
  )

  test('a damaged table is told apart, and no part of it is used', async () => {
    const { repaired, said } = await repair('organizations')
    expect(said).toContain('no such table')
    expect(rowsOf(repaired)).toEqual([])
  })
})
