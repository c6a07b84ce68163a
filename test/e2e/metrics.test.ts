import { text } from 'node:stream/consumers'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { request as requestTls } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createClient, watchApproval, type Client } from '../../src/library/svc.ts'
import { selfSigned } from '../certificate.ts'
import { createPerson, remote, type Person } from './person.ts'
import { startService, svc, type Service } from './processes.ts'
import { root } from '../source-tree.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const operator = 'svc_op_metrics0_0123456789012345678901234567890'
const folder = temporaryFolder()
let service: Service
let url: string
let admin: Client
let person: Person

type Metrics = Map<string, number>

const get = (path = url, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    request(path, { headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
      .on('error', reject)
      .end()
  })

/** Every sample by its name with labels. Throws for a line that is not in the format. */
const scrape = async (): Promise<Metrics> => {
  const { status, text } = await get()
  if (status !== 200) throw new Error(`${status} ${text}`)
  const samples: Metrics = new Map()
  const typed = new Set<string>()
  for (const line of text.trimEnd().split('\n')) {
    const [, type] = /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line) ?? []
    if (type !== undefined) typed.add(type)
    if (line.startsWith('#')) continue
    const [, series, name, value] = /^((\w+)(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)+\})?) (\S+)$/.exec(line) ?? []
    if (series === undefined || Number.isNaN(Number(value))) throw new Error(`Not a sample: ${line}`)
    if (!typed.has(name!.replace(/_(?:bucket|sum|count)$/, '')) && !typed.has(name!))
      throw new Error(`No type: ${line}`)
    if (samples.has(series)) throw new Error(`Twice: ${series}`)
    samples.set(series, Number(value))
  }
  return samples
}

/** The metrics that a query reads. */
const metricsIn = (from: string): Set<string> =>
  new Set(
    [...from.matchAll(/\b(?:svc|process)_\w+/g)].map(([name]) => name.replace(/_(?:bucket|sum|count)$/, '')),
  )

beforeAll(async () => {
  service = await startService(folder.path, operator, ['--dev', '--metrics-port', '0'])
  const listed = await svc(['key', 'list'], {
    SVC_BASE_URL: service.baseUrl,
    SVC_API_KEY: operator,
    SVC_CONFIG_DIR: folder.path,
    TRACEPARENT: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  })
  if (listed.exit !== 0) throw new Error(listed.stderr)
  url = service.ready.metrics_url!
  admin = createClient({ baseUrl: service.baseUrl, apiKey: operator })
  person = await createPerson(remote(service.baseUrl, operator), 1)
})
afterAll(async () => {
  await admin.close()
  await service.stop()
  folder.remove()
})

test('/metrics shows the requests, the decision and the pending request', async () => {
  const { key } = await admin.createKey({ name: 'deploys', scopes: ['ask'], org_id: person.org.id })
  const client = createClient({ baseUrl: service.baseUrl, apiKey: String(key) })
  const action = 'Deploy 4.2 for the tenant acme-1'
  const { request_id } = await client.createApproval({ action, approvers: [person.mobile] })
  expect((await scrape()).get('svc_approvals_pending')).toBe(1)
  const watching = watchApproval(client, request_id, { wanted: { action }, expected: { allowDev: true } })
  await expect.poll(async () => (await scrape()).get('svc_approval_waits')).toBe(1)
  await person.answer()
  await watching
  await client.close()

  const metrics = await scrape()
  expect(metrics.get('svc_approvals_pending')).toBe(0)
  expect(metrics.get('svc_approval_decision_seconds_count{status="approved"}')).toBe(1)
  const created = 'method="POST",route="/svc/v1/approvals",status="200"'
  expect(metrics.get(`svc_http_requests_total{${created}}`)).toBe(1)
  expect(metrics.get('svc_store_writes_total')).toBeGreaterThan(3)
  expect(metrics.get('svc_store_up')).toBe(1)
})

test('no label holds an id, a name or an address', async () => {
  await remote(service.baseUrl, operator).call('GET', '/organization/acme-1')
  await remote(service.baseUrl, operator).call('GET', '/no/such/route/acme-1')
  const text = (await get()).text
  expect(text).not.toMatch(/acme|apr_|Ada|\+1\d|deploys|127\.0\.0\.1/)
  expect(text).toContain('route="-",status="404"')
})

test.each([
  ['another path', '/', {}, 404],
  ['a Host that a page of a browser could use', '/metrics', { host: 'evil.example:80' }, 403],
])('the metrics port refuses %s', async (_, path, headers, status) => {
  expect((await get(new URL(path, url).href, headers)).status).toBe(status)
})

test('the dashboard, the alerts and the page name only metrics and labels that exist', async () => {
  const text = (await get()).text
  const names = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!))
  const docs = join(root, 'docs')
  const dashboard = JSON.parse(readFileSync(join(docs, 'monitoring', 'dashboard.json'), 'utf8')) as {
    panels: { id: number; title: string; targets: { expr: string }[] }[]
  }
  const alerts = parse(readFileSync(join(docs, 'monitoring', 'alerts.yaml'), 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[]
  }
  const queries = [
    ...dashboard.panels.flatMap(({ targets }) => targets),
    ...alerts.groups.flatMap(({ rules }) => rules),
  ].map(({ expr }) => expr)
  expect(queries.length).toBeGreaterThan(20)
  for (const query of queries)
    for (const name of metricsIn(query)) expect([query, names.has(name)]).toEqual([query, true])
  // Every metric is described, and none that does not exist.
  const page = readFileSync(join(docs, 'monitoring.md'), 'utf8')
  const [, table = ''] = page.split('## Metrics')
  const described = new Set([...table.matchAll(/`((?:svc|process)_[a-z_]+[a-z])`/g)].map(([, name]) => name!))
  expect(described).toEqual(names)
  const labels = new Set([
    'job',
    'instance',
    'le',
    // Of ALERTS, a metric of Prometheus.
    'alertname',
    ...[...text.matchAll(/(\w+)="/g)].map(([, label]) => label!),
  ])
  for (const [, by, selected] of queries.join('\n').matchAll(/\b(?:by \(([\w, ]+)\)|\{(\w+)[=!])/g))
    for (const label of (by ?? selected!).split(', ')) expect(labels).toContain(label)
})

test('the main port has no /metrics', async () => {
  expect((await get(new URL('/metrics', service.baseUrl).href)).status).toBe(404)
})

test('the log line of a request names its trace, and of no other', () => {
  const lines = service
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { route?: string; trace_id?: string; parent_id?: string })
  const traced = lines.filter(({ trace_id }) => trace_id !== undefined)
  expect(traced.map(({ route }) => route)).toContain('/svc/v1/keys')
  expect(new Set(traced.map(({ trace_id }) => trace_id))).toEqual(
    new Set(['4bf92f3577b34da6a3ce929d0e0e4736']),
  )
  expect(traced[0]!.parent_id).toBe('00f067aa0ba902b7')
  expect(lines.filter(({ trace_id }) => trace_id === undefined).length).toBeGreaterThan(5)
})

test('a metrics port in use ends the start with the flag to change', async () => {
  const taken = new URL(url).port
  const other = temporaryFolder()
  const ended = await svc(
    ['serve', '--port', '0', '--no-profile', '--data-dir', other.path, '--metrics-port', taken],
    { SVC_CONFIG_DIR: folder.path },
  )
  other.remove()
  expect(ended).toMatchObject({ exit: 1 })
  expect(ended.stderr).toContain(`127.0.0.1:${taken} is in use by another program`)
  expect(ended.stderr).toContain('--metrics-port 0')
})

test.each(['70000', 'x', '-1'])('refuses --metrics-port %s', async (port) => {
  const ended = await svc(['serve', `--metrics-port=${port}`], { SVC_CONFIG_DIR: folder.path })
  expect(ended).toMatchObject({ exit: 2 })
  expect(ended.stderr).toContain(`--metrics-port must be a whole number from 0 to 65535, not "${port}"`)
})

describe('on another address than loopback', () => {
  const key = 'k'.repeat(32)
  const tls = temporaryFolder()
  afterAll(tls.remove)
  const serve = (...args: string[]): Promise<Service> =>
    startService(join(tls.path, String(args.length)), operator, ['--metrics-port', '0', ...args], {
      SVC_METRICS_KEY: key,
    })

  test('/metrics requires the key', async () => {
    const open = await serve('--metrics-host', '0.0.0.0')
    const at = open.ready.metrics_url!
    const host = 'svc-1.internal:9464'
    const statuses = [{}, { authorization: `Bearer ${key}x` }, { authorization: `Bearer ${key}` }].map(
      async (headers) => (await get(at, { host, ...headers })).status,
    )
    expect(await Promise.all(statuses)).toEqual([401, 401, 200])
    expect(await open.stop()).toBe(0)
  })

  test('/metrics uses the certificate of the service', async () => {
    const [cert, privateKey] = [join(tls.path, 'cert.pem'), join(tls.path, 'key.pem')]
    const made = selfSigned()
    writeFileSync(cert, made.cert)
    writeFileSync(privateKey, made.key)
    const secure = await serve('--metrics-host', '0.0.0.0', '--tls-cert', cert, '--tls-key', privateKey)
    const at = new URL(secure.ready.metrics_url!)
    expect(at.protocol).toBe('https:')
    const answer = new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const options = { rejectUnauthorized: false, headers: { authorization: `Bearer ${key}` } }
      requestTls(at, options, (response) =>
        text(response).then((body) => resolve({ status: response.statusCode, body }), reject),
      )
        .on('error', reject)
        .end()
    })
    expect(await answer).toMatchObject({
      status: 200,
      body: expect.stringContaining(
        `svc_certificate_expires_seconds ${Date.parse('2049-12-31T23:59:59Z') / 1000}`,
      ),
    })
    expect(await secure.stop()).toBe(0)
  })

  test.each([
    [
      '',
      '--metrics-port 0 --metrics-host 0.0.0.0',
      'Without SVC_METRICS_KEY the metrics are on loopback only',
    ],
    ['short', '--metrics-port 0', 'SVC_METRICS_KEY is too short'],
    [key, '--metrics-host 0.0.0.0', '--metrics-host requires --metrics-port'],
  ])('with the key "%s" %s is refused', async (SVC_METRICS_KEY, flags, message) => {
    const { exit, stderr } = await svc(`serve --check --data-dir ${tls.path}/none ${flags}`, {
      SVC_METRICS_KEY,
    })
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})
