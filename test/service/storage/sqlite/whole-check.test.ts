import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, expect, test } from 'vitest'
import { checkWhole } from '../../../../src/service/storage/sqlite/whole-check.ts'
import { patienceMs } from '../../../patience.mts'
import { temporaryFolder } from '../../../temporary-folder.ts'

const folder = temporaryFolder()
afterAll(folder.remove)
const said: string[] = []
const check = (file: string) => checkWhole(file, (line) => said.push(line))
const store = (name: string, bytes = 10): string => {
  const file = join(folder.path, name)
  const database = new Libsql(file)
  database.exec(`CREATE TABLE t AS SELECT hex(randomblob(${bytes})) AS v`)
  database.close()
  return file
}

test('finds damage in a file that is no store, and none in one that is whole or whose check was stopped', async () => {
  const whole = check(store('whole.db'))
  const stopped = check(store('stopped.db', 20_000_000))
  stopped.stop()
  const found = await Promise.race([whole.damage, stopped.damage, check(import.meta.filename).damage])
  expect(found).toMatchObject({ code: 'SQLITE_CORRUPT', message: expect.stringContaining('not a database') })
  expect(said).toEqual([])
})

test('says that a store could not be checked, and does not call it damaged', async () => {
  const file = join(folder.path, 'file')
  writeFileSync(file, '')
  void check(join(file, 'svc.db')).damage.then(() => said.push('damage'))
  await expect
    .poll(() => said.at(-1), { timeout: patienceMs })
    .toMatch(/^The store could not be checked for damage: .*Unable to open/)
})
