import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startService } from '../e2e/processes.ts'
import { root } from '../source-tree.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// Runs where promtool is installed: Debian has it in the package `prometheus`.
const promtool = process.env['PROMTOOL'] ?? 'promtool'
const isThere = spawnSync(promtool, ['--version']).status === 0

test.runIf(isThere)('promtool accepts the alert rules', () => {
  const said = execFileSync(promtool, ['check', 'rules', join(root, 'docs', 'monitoring', 'alerts.yaml')])
  expect(String(said)).toContain('SUCCESS')
})

test.runIf(isThere)('promtool has no complaint about the metrics', async () => {
  const { path, remove } = temporaryFolder()
  const service = await startService(path, 'svc_op_promtool_0123456789012345678901234567890', [
    '--dev',
    '--metrics-port',
    '0',
  ])
  try {
    const input = await (await fetch(service.ready.metrics_url!)).text()
    const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input, encoding: 'utf8' })
    expect([status, stdout, stderr]).toEqual([0, '', ''])
  } finally {
    await service.stop()
    remove()
  }
})
