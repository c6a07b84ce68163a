import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditHash, genesisHash } from '../../src/receipt/chain.ts'
import { createGeofence } from './geofence.ts'
import { svcHere } from './prepare.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const key = 'svc_op_endtoend_0123456789012345678901234567890'
const folder = temporaryFolder()
const head = join(folder.path, 'head.json')
let service: ServiceHere
let env: Record<string, string>

const start = async (dataDir: string): Promise<void> => {
  service = await startServiceHere(dataDir, key)
  env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key, SVC_CONFIG_DIR: join(folder.path, 'config') }
}
const dataDir = join(folder.path, 'data')
const verify = (...args: string[]) => svcHere(['audit', 'verify', '--org', '1', ...args], env)

/** What an attacker with write access to the file can do: change a row, then recompute every hash after it. */
const rewrite = (forge: boolean): void => {
  const db = new Database(join(dataDir, 'svc.db'))
  db.exec(`UPDATE audit SET subject = 'user:666' WHERE org_id = 1 AND seq = 2`)
  if (forge) {
    let prev_hash = genesisHash
    const rows = db.prepare('SELECT * FROM audit WHERE org_id = 1 ORDER BY seq').all() as Record<
      string,
      never
    >[]
    for (const { hash: _, row_mac: __, ...row } of rows) {
      const forged = { ...row, changes: JSON.parse(row.changes!) as string[], prev_hash } as never
      prev_hash = auditHash(forged)
      db.prepare('UPDATE audit SET prev_hash = ?, hash = ? WHERE org_id = 1 AND seq = ?').run(
        (forged as { prev_hash: string }).prev_hash,
        prev_hash,
        row.seq!,
      )
    }
  }
  db.close()
}

beforeAll(async () => {
  await start(dataDir)
  await svcHere(['org', 'create', '--name', 'Acme'], env)
  for (const name of ['One', 'Two']) await createGeofence(name, env)
  const { stdout } = await svcHere(['audit', 'head', '--org', '1', '-o', 'json'], env)
  writeFileSync(head, stdout)
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

describe('svc audit verify', () => {
  test('accepts an untouched chain, with and without a saved head', async () => {
    expect(await verify()).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^valid\ttrue\nrows\t3\n/),
    })
    expect(await verify('--head', head)).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/head\t3\n$/),
    })
  })
  test('rejects a head that this service did not sign', async () => {
    const other = join(folder.path, 'other.json')
    writeFileSync(other, '{"jws":"eyJhbGciOiJub25lIn0.e30."}')
    const { exit, stderr } = await verify('--head', other)
    expect(exit).toBe(1)
    expect(stderr).toMatch(/could not be checked\n.*is not a head that was signed by this service/)
  })
  test('rejects a file without a head, and does not call the chain wrong', async () => {
    const empty = join(folder.path, 'empty.ndjson')
    writeFileSync(empty, '')
    const { exit, stderr } = await verify('--head', empty)
    expect(exit).toBe(2)
    expect(stderr).toContain(`--head: ${empty} contains no head\nhint: svc audit head`)
  })
  test('finds a row that was changed in the file', async () => {
    await service.stop()
    rewrite(false)
    await start(dataDir)
    const { exit, stderr } = await verify()
    expect(exit).toBe(1)
    expect(stderr).toMatch(/Row 2/)
  })
  test('finds a recomputed chain by comparing it with a saved head', async () => {
    await service.stop()
    rewrite(true)
    await start(dataDir)
    expect(await verify()).toMatchObject({ exit: 0 })
    const { exit, stderr } = await verify('--head', head)
    expect(exit).toBe(1)
    expect(stderr).toMatch(/Row 3 does not match the saved head/)
  })
})
