import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startService } from '../e2e/processes.ts'
import { root } from '../source-tree.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { alertsAt, firingAt, isThere, promtool, ruleFile, rules } from './promtool.ts'

test.runIf(isThere)('promtool accepts the alert rules', () => {
  const said = execFileSync(promtool, ['check', 'rules', ruleFile])
  expect(String(said)).toContain('SUCCESS')
})

const lost = (channel: string) => `svc_delivery_attempts_total{channel="${channel}",result="dead"}`

test.runIf(isThere)('the first lost message of a channel fires, because its series begins at 0', () => {
  const exp_labels = { channel: 'sms', severity: 'ticket' }
  const exp_annotations = {
    summary: 'Messages by sms were refused or given up',
    runbook_url: 'docs/runbook.md#svcmessageslost',
  }
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
  const exp_annotations = {
    summary: 'A receiver of events has not answered for more than an hour',
    runbook_url: 'docs/runbook.md#svcwebhookslate',
  }
  const { status, stdout } = alertsAt(120, series, {
    SvcMessagesLate: [],
    SvcMessagesLost: [],
    SvcWebhooksLate: [{ exp_labels: { severity: 'ticket' }, exp_annotations }],
  })
  expect([status, stdout]).toEqual([0, expect.stringContaining('SUCCESS')])
})

/** For each alert: a series with a healthy value, and one with which it fires within ten minutes. */
const faults: Record<string, [series: string, healthy: string, broken: string]> = {
  SvcDown: ['up{job="svc"}', '1x40', '0x40'],
  SvcStoreDown: ['svc_store_up', '1x40', '0x40'],
  SvcStoreDamaged: ['svc_store_problem{reason="store_damaged"}', '0x40', '1x40'],
  SvcDatabaseLosesWrites: ['svc_database_risk{reason="loses_writes"}', '0x40', '1x40'],
  SvcStandbyMissing: ['svc_database_risk{reason="writes_wait"}', '0x40', '1x40'],
  SvcNoStandby: ['svc_database_risk{reason="no_standby"}', '0x80', '1x80'],
  SvcStandbyLate: ['svc_database_lag_bytes', '0x40', '100000000x40'],
  SvcNodeLost: ['svc_nodes{state="lost"}', '0x40', '1x40'],
  SvcBackupOld: ['svc_backup_age_seconds', '3600+15x40', '259200+15x40'],
  SvcClockOff: ['svc_clock_seconds{clock="machine"}', '0+15x80', '660+15x80'],
  // promtool begins at 1970.
  SvcCertificateExpires: ['svc_certificate_expires_seconds', '1300000x40', '1200000x40'],
  SvcServerErrors: ['svc_http_requests_total{status="500"}', '0x80', '0+15x80'],
  SvcMessagesLate: ['svc_outbox_oldest_seconds{channel="sms"}', '0x40', '200+15x40'],
  SvcMessagesLost: [lost('sms'), '0x40', '0+1x40'],
  SvcWebhooksLate: ['svc_outbox_oldest_seconds{channel="webhook"}', '0x80', '7200+15x80'],
  SvcEventLoopSlow: ['svc_event_loop_delay_seconds{percentile="99"}', '0x40', '1x40'],
}
/** Those whose fault needs two series. */
const pairs: Record<string, Record<string, string>> = {
  SvcStoreUnwritable: { 'svc_store_problem{reason="storage_unavailable"}': '1x40', svc_store_up: '1x40' },
  SvcDiskAlmostFull: { svc_disk_free_bytes: '5x40', svc_disk_size_bytes: '100x40' },
  SvcConnectionsUsedUp: { svc_store_connections: '10x40', svc_store_connections_limit: '10x40' },
}

const firing = (series: Record<string, string>): string[] => firingAt(10, series).map(({ alert }) => alert)

test.runIf(isThere)(
  'each alert fires at its fault, and none at a healthy value',
  () => {
    const names = rules.map(({ alert }) => alert).toSorted()
    expect([...Object.keys(faults), ...Object.keys(pairs)].toSorted()).toEqual(names)
    for (const [name, [series, healthy, broken]] of Object.entries(faults)) {
      expect([name, firing({ [series]: healthy })]).toEqual([name, []])
      expect([name, firing({ [series]: broken })]).toEqual([name, [name]])
    }
    for (const [name, series] of Object.entries(pairs)) expect([name, firing(series)]).toEqual([name, [name]])
  },
  60_000,
)

test('an alert is silent beside alerts that exist', () => {
  const patterns = rules.flatMap(({ expr }) => [...expr.matchAll(/alertname=~"(.*?)"/g)])
  const named = new Set(patterns.flatMap(([, pattern]) => pattern!.split('|')))
  expect(named.size).toBe(3)
  for (const name of named)
    expect(rules.filter(({ alert }) => alert.startsWith(name.replace('.+', '')))).not.toEqual([])
})

test('the runbook has an entry for each alert, which the alert names, and no other', () => {
  const runbook = readFileSync(join(root, 'docs', 'runbook.md'), 'utf8')
  const entries = [...runbook.matchAll(/^## (Svc\w+)$/gm)].map(([, name]) => name!)
  expect(entries).toEqual(rules.map(({ alert }) => alert))
  for (const { alert, annotations } of rules)
    expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`)
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
