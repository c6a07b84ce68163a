import { describe, expect, test } from 'vitest'
import { type Firing, firingAt, isThere } from './promtool.ts'

// Three nodes on one database. Each measures its own view of the same fault.

const nodes = ['svc-1:9464', 'svc-2:9464', 'svc-3:9464']
type Fault = (node: string) => Record<string, string>

const of = (node: string, metric: string, labels: Record<string, string> = {}): string => {
  const all = { ...labels, instance: node, job: 'svc' }
  return `${metric}{${Object.entries(all).map(([name, value]) => `${name}="${value}"`)}}`
}

/** What a node reports. */
const reported = (
  node: string,
  { up = 1, problem = '', risk = '', errors = false, connections = 3, late = false } = {},
): Record<string, string> => ({
  [of(node, 'up')]: '1x80',
  [of(node, 'svc_store_up')]: `${up}x80`,
  ...Object.fromEntries(
    ['storage_unavailable', 'store_damaged'].map((reason) => [
      of(node, 'svc_store_problem', { reason }),
      `${Number(problem === reason)}x80`,
    ]),
  ),
  ...Object.fromEntries(
    ['loses_writes', 'writes_wait', 'no_standby'].map((reason) => [
      of(node, 'svc_database_risk', { reason }),
      `${Number(risk === reason)}x80`,
    ]),
  ),
  [of(node, 'svc_http_requests_total', { route: '/svc/v1/keys', status: '503' })]: errors
    ? '0+15x80'
    : '0x80',
  [of(node, 'svc_store_connections')]: `${connections}x80`,
  [of(node, 'svc_store_connections_limit')]: '10x80',
  // Absent while the store cannot be read.
  ...(up === 1 && { [of(node, 'svc_outbox_oldest_seconds', { channel: 'sms' })]: late ? '0+15x80' : '0x80' }),
})
/** A process that has ended reports nothing. */
const down: Fault = (node) => ({ [of(node, 'up')]: '0x80' })
const well: Fault = (node) => reported(node)

const minutes = 15
const alerts = (fault: Fault): Firing[] =>
  firingAt(minutes, Object.assign({}, ...nodes.map(fault)) as Record<string, string>)
const pages = (fault: Fault): Firing[] => alerts(fault).filter(({ labels }) => labels['severity'] === 'page')
const said = (fault: Fault) => alerts(fault).map(({ alert, summary }) => [alert, summary])
const everywhere = (report: Parameters<typeof reported>[1]): Firing[] =>
  pages((node) => reported(node, report))
const atOne = (report: Parameters<typeof reported>[1]): Firing[] =>
  pages((node) => (node === nodes[1] ? reported(node, report) : well(node)))

const clocks = (node: string, store: number, machine: number): Record<string, string> => ({
  [of(node, 'svc_clock_seconds', { clock: 'store' })]: `${store}+15x80`,
  [of(node, 'svc_clock_seconds', { clock: 'machine' })]: `${machine}+15x80`,
})

describe.runIf(isThere)('of three nodes on one database', { timeout: 60_000 }, () => {
  test('none pages while all is well', () => {
    expect(pages(well)).toEqual([])
  })

  test.for([
    ['cannot be reached', 'SvcStoreDown', { up: 0, problem: 'storage_unavailable', errors: true }],
    ['is full', 'SvcStoreUnwritable', { problem: 'storage_unavailable', errors: true, late: true }],
    ['is damaged', 'SvcStoreDamaged', { up: 0, problem: 'store_damaged', errors: true }],
    [
      'waits for a standby',
      'SvcStandbyMissing',
      { risk: 'writes_wait', problem: 'storage_unavailable', errors: true, connections: 10, late: true },
    ],
    ['can lose writes', 'SvcDatabaseLosesWrites', { risk: 'loses_writes' }],
    ['is locked', 'SvcConnectionsUsedUp', { connections: 10, errors: true }],
  ] as const)('a database that %s pages once, and names no node', ([, alert, report]) => {
    const found = everywhere(report)
    expect(found.map((one) => one.alert)).toEqual([alert])
    expect(found[0]?.labels).not.toHaveProperty('instance')
  })

  test.for([
    ['cannot reach the database', 'SvcStoreDown', { up: 0, problem: 'storage_unavailable', errors: true }],
    ['cannot write', 'SvcStoreUnwritable', { problem: 'storage_unavailable', errors: true }],
    ['finds damage', 'SvcStoreDamaged', { up: 0, problem: 'store_damaged', errors: true }],
    ['has no free connection', 'SvcConnectionsUsedUp', { connections: 10, errors: true }],
    ['answers with errors', 'SvcServerErrors', { errors: true }],
  ] as const)('a node that %s pages once, by name', ([, alert, report]) => {
    const found = atOne(report)
    expect(found.map((one) => one.alert)).toEqual([alert])
    expect(found[0]?.summary).toContain('svc-2:9464')
    expect(found[0]?.summary).not.toMatch(/svc-[13]/)
  })

  test('nodes that are down page for each, unless all are: once', () => {
    const some = pages((node) => (node === nodes[2] ? well(node) : down(node)))
    expect(some.map(({ alert, summary }) => [alert, summary])).toEqual([
      ['SvcDown', 'svc on svc-1:9464 does not answer'],
      ['SvcDown', 'svc on svc-2:9464 does not answer'],
    ])
    expect(pages(down).map(({ alert, summary }) => [alert, summary])).toEqual([
      ['SvcDown', 'svc does not answer'],
    ])
  })

  test('two nodes with a fault each page for each, and errors of a third are not hidden', () => {
    const found = pages((node) =>
      node === nodes[2]
        ? reported(node, { errors: true })
        : reported(node, { up: node === nodes[0] ? 0 : 1 }),
    )
    expect(found.map(({ alert, labels }) => [alert, labels['instance']])).toEqual([
      ['SvcStoreDown', nodes[0]],
      ['SvcServerErrors', nodes[2]],
    ])
  })

  test('a clock of the database that is off is one ticket, and that of a machine names it', () => {
    expect(said((node) => clocks(node, 60, 0))).toEqual([['SvcClockOff', 'The clock of the store is off']])
    expect(said((node) => clocks(node, 0, node === nodes[1] ? 60 : 0))).toEqual([
      ['SvcClockOff', 'The clock of the machine at svc-2:9464 is off'],
    ])
  })
})
