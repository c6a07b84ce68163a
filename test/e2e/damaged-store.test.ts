import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService, svc, type Service } from './processes.ts'
import { patienceMs } from '../patience.mts'
import { temporaryFolder } from '../temporary-folder.ts'

// Bytes of the file of the store are overwritten, as by a failing disk.

const folder = temporaryFolder()
const dataDir = join(folder.path, 'data')
const key = 'svc_op_endtoend_0123456789012345678901234567890'
let service: Service

/** Overwrites the first page of a table. Its number must be read before the store is damaged. */
const damage = (page: number, dir = dataDir): void => {
  const file = openSync(join(dir, 'svc.db'), 'r+')
  writeSync(file, Buffer.alloc(200, 0xaa), 0, 200, (page - 1) * 4096)
  closeSync(file)
}
const firstPage = (table: string): number => {
  const database = new Libsql(join(dataDir, 'svc.db'))
  const [row] = database.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?').all([table]) as {
    rootpage: number
  }[]
  database.close()
  return row!.rootpage
}

const env = () => ({
  SVC_BASE_URL: service.baseUrl,
  SVC_API_KEY: key,
  SVC_CONFIG_DIR: join(folder.path, 'config'),
})
const run = (line: string) => svc(line, env())
const ready = async () => {
  const answer = await fetch(new URL('/health/ready', service.baseUrl))
  return [answer.status, await answer.json()]
}

beforeAll(async () => {
  const first = await startService(dataDir, key)
  service = first
  await run('org create --name Acme --slug acme')
  await first.stop()
})
afterAll(async () => {
  await service.stop('SIGKILL')
  folder.remove()
})

test('a service that finds damage refuses everything as store_damaged, is not ready, and measures it', async () => {
  const page = firstPage('organizations')
  service = await startService(dataDir, key, ['--metrics-port', '0'])
  const metrics = async () => await (await fetch(service.ready.metrics_url!)).text()
  expect(await ready()).toEqual([200, { ok: true }])
  expect(await metrics()).toContain('svc_store_problem{reason="store_damaged"} 0\n')
  damage(page)
  // After a write, what is read comes from the file again; the write may already find the damage.
  await run('key create --name other --can read')
  const list = await run('org list -o json')
  expect(list.exit).not.toBe(0)
  expect(JSON.parse(list.stderr)).toMatchObject({
    code: 'store_damaged',
    hint: expect.stringContaining('svc service restore'),
  })
  expect(await ready()).toEqual([503, { ok: false, reason: 'store_damaged' }])
  expect(await metrics()).toContain('svc_store_problem{reason="store_damaged"} 1\n')
  expect((await run('key create --name third --can read')).stderr).toContain('The store is damaged')
  expect(
    service.log().match(/"level":"warn","message":"The store is damaged: database disk image/g),
  ).toHaveLength(1)
  const doctor = await run('doctor')
  expect([doctor.exit, doctor.stdout]).toEqual([
    1,
    expect.stringMatching(/^fail +service +The store is damaged/m),
  ])
  expect(await service.stop()).toBe(0)
})

test('nothing starts on a damaged store, and no backup of it is written', async () => {
  for (const line of [
    `serve --port 0 --no-profile --data-dir ${dataDir}`,
    `serve --check --data-dir ${dataDir}`,
    `service backup ${folder.path}/b.db --data-dir ${dataDir}`,
  ]) {
    const { exit, stderr } = await svc(line, { SVC_CONFIG_DIR: join(folder.path, 'config') })
    expect([exit, stderr]).toEqual([
      1,
      expect.stringMatching(/svc\.db is damaged.*\n.*Restore the last backup/s),
    ])
  }
})

test('a service on a large store starts without reading all of it, and finds the damage in it soon after', async () => {
  const large = join(folder.path, 'large')
  await (await startService(large, key)).stop()
  const database = new Libsql(join(large, 'svc.db'))
  database.exec("INSERT INTO settings VALUES ('filler', hex(randomblob(18000000)))")
  // A page of a table that nothing reads at the start.
  const [row] = database.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'timeslots'").all([]) as {
    rootpage: number
  }[]
  database.close()
  damage(row!.rootpage, large)
  const hurt = await startService(large, key)
  const health = async () => (await fetch(new URL('/health/ready', hurt.baseUrl))).json()
  await expect.poll(health, { timeout: patienceMs }).toEqual({ ok: false, reason: 'store_damaged' })
  expect(hurt.log()).toMatch(/"level":"warn","message":"The store is damaged: /)
  expect(await hurt.stop()).toBe(0)
})
