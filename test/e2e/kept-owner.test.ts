import { chmodSync, chownSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startService, svc } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const owner = 65534

test.runIf(process.getuid?.() === 0)(
  'maintenance by root leaves every file of the folder to its owner, also what it creates',
  async () => {
    const { path, remove } = temporaryFolder()
    chmodSync(path, 0o711)
    const dataDir = join(path, 'data')
    await (await startService(dataDir, `svc_op_1a2b3c4d_${'k'.repeat(32)}`)).stop()
    const files = () => readdirSync(dataDir).map((name) => join(dataDir, name))
    for (const file of [dataDir, ...files()]) chownSync(file, owner, owner)
    for (const name of ['lock', 'server.pid']) rmSync(join(dataDir, name), { force: true })
    for (const line of [
      'rotate-master-key',
      'rotate-signing-key',
      'reset-operator-key --yes --no-profile',
      `backup ${join(path, 'backup.db')}`,
      'migrate',
    ]) {
      const { exit, stderr } = await svc(`service ${line} --data-dir ${dataDir}`, { SVC_CONFIG_DIR: path })
      expect([line, exit, stderr]).toEqual([line, 0, expect.anything()])
      expect([line, files().filter((file) => statSync(file).uid !== owner)]).toEqual([line, []])
    }
    expect(files()).toContain(join(dataDir, 'master.key'))
    // The backup is a secret of whoever made it.
    expect(statSync(join(path, 'backup.db')).uid).toBe(0)
    remove()
  },
)
