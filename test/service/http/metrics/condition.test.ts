import { describe, expect, test } from 'vitest'
import { auditByService } from '../../../../src/service/call/audit.ts'
import { conditionFamilies } from '../../../../src/service/http/metrics/condition.ts'
import { exposition } from '../../../../src/service/http/metrics/exposition.ts'
import { noteBackup } from '../../../../src/service/storage/last-backup.ts'
import { lostAfterS } from '../../../../src/service/storage/schema/service.ts'
import { engines } from '../../storage/engines.ts'
import { at, clock, installHooks, storage } from '../../storage/opened-store.ts'
import { createNode, watchNode } from '../../../../src/service/lifecycle/node.ts'
import { temporaryFolder } from '../../../temporary-folder.ts'

const read = async (dataDir?: string): Promise<string> => {
  const node = createNode({ storage, signals: { waiting: 0 } }, {})
  return exposition(await conditionFamilies({ storage, node, dataDir }))
}

describe.each(engines)('the metrics of the $name store', (engine) => {
  installHooks(engine)

  test('show the age of the last backup, and without one of the store', async () => {
    expect(await read()).not.toContain('svc_backup_age_seconds')
    await storage.write(
      (db) => auditByService({ db }, at, { orgId: 0, action: 'createUser', subject: '-' }),
      {
        org: 0,
      },
    )
    clock.tick(3 * 24 * 3600_000)
    expect(await read()).toContain('svc_backup_age_seconds{last="never"} 259200\n')
    await noteBackup(storage)
    clock.tick(60_000)
    await noteBackup(storage)
    expect(await read()).toContain('svc_backup_age_seconds{last="written"} 0\n')
  })

  test('show a clock that is off beside the one of this machine', async () => {
    const clocks = Object.fromEntries(
      [...(await read()).matchAll(/^svc_clock_seconds\{clock="(\w+)"\} (\S+)$/gm)].map(([, name, value]) => [
        name,
        Number(value),
      ]),
    )
    expect(clocks['store']).toBe(Date.parse(storage.now()) / 1000)
    expect(Math.abs(clocks['machine']! - Date.now() / 1000)).toBeLessThan(60)
    expect(Math.abs(clocks['store']! - clocks['machine']!)).toBeGreaterThan(30)
  })

  test('show no problem with a store that can be written', async () => {
    const text = await read()
    expect(text).toContain('svc_store_problem{reason="storage_unavailable"} 0\n')
    expect(text).toContain('svc_store_problem{reason="store_damaged"} 0\n')
    expect(text).toContain('svc_database_risk{reason="loses_writes"} 0\n')
  })

  test('show the disk of a data folder', async () => {
    const { path, remove } = temporaryFolder()
    expect(await read()).not.toContain('svc_disk')
    expect(await read(path)).toMatch(/^svc_disk_free_bytes [1-9]\d*$/m)
    remove()
  })

  test.runIf(engine.shared)('count a node that no longer reports as lost', async () => {
    const row = createNode({ storage, signals: { waiting: 0 } }, {})()
    await storage.write((db) => db.insertInto('nodes').values(row).execute(), { org: null })
    expect(await read()).toContain(
      'svc_nodes{state="serving"} 1\nsvc_nodes{state="stopping"} 0\nsvc_nodes{state="lost"} 0\n',
    )
    clock.tick((lostAfterS + 1) * 1000)
    expect(await read()).toContain('svc_nodes{state="lost"} 1\n')
    // A node that starts at its address takes its place.
    const again = watchNode({ storage, node: createNode({ storage, signals: { waiting: 0 } }, {}) }, () => {})
    await again.report()
    expect(await read()).toContain(
      'svc_nodes{state="serving"} 1\nsvc_nodes{state="stopping"} 0\nsvc_nodes{state="lost"} 0\n',
    )
    await again.stop()
  })
})
