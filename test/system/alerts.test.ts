import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
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

/** Series as promtool writes them: `0x10 1` is 0 eleven times and then 1, a sample each 15 seconds. */
const alertsAt = (minutes: number, series: Record<string, string>, expected: Record<string, object[]>) => {
  const { path, remove } = temporaryFolder()
  const file = join(path, 'case.json')
  const cases = {
    rule_files: [join(root, 'docs', 'monitoring', 'alerts.yaml')],
    tests: [
      {
        interval: '15s',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: Object.entries(expected).map(([alertname, found]) => ({
          alertname,
          eval_time: `${minutes}m`,
          exp_alerts: found,
        })),
      },
    ],
  }
  writeFileSync(file, JSON.stringify(cases))
  try {
    return spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' })
  } finally {
    remove()
  }
}

const lost = (channel: string) => `svc_delivery_attempts_total{channel="${channel}",result="dead"}`

test.runIf(isThere)('the first lost message of a channel fires, because its series begins at 0', () => {
  const exp_labels = { channel: 'sms', severity: 'ticket' }
  const exp_annotations = { summary: 'Messages by sms were refused or given up' }
  const fired = { SvcMessagesLost: [{ exp_labels, exp_annotations }] }
  const { status, stdout } = alertsAt(5, { [lost('sms')]: '0x10 1x20' }, fired)
  expect([status, stdout]).toEqual([0, expect.stringContaining('SUCCESS')])
  // A series that begins at 1 would not fire.
  expect(alertsAt(5, { [lost('sms')]: '_x10 1x20' }, fired).status).not.toBe(0)
})

test.runIf(isThere)('a dead receiver of webhooks pages nobody', () => {
  const series = {
    'svc_outbox_oldest_seconds{channel="webhook"}': '0+15x600',
    [lost('webhook')]: '0x10 1x600',
  }
  const exp_annotations = { summary: 'A receiver of events has not answered for more than an hour' }
  const { status, stdout } = alertsAt(120, series, {
    SvcMessagesLate: [],
    SvcMessagesLost: [],
    SvcWebhooksLate: [{ exp_labels: { severity: 'ticket' }, exp_annotations }],
  })
  expect([status, stdout]).toEqual([0, expect.stringContaining('SUCCESS')])
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
    expect(input).toContain(`${lost('sms')} 0\n`)
    const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input, encoding: 'utf8' })
    expect([status, stdout, stderr]).toEqual([0, '', ''])
  } finally {
    await service.stop()
    remove()
  }
})
