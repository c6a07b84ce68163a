import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bin, svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { fillStore } from './fill-store.ts'
import { pathsOf } from './list-paths.ts'
import { call, must } from './requests.ts'
import type { Result, Torture } from './torture.ts'
import { createVariant } from './variant.ts'

const rows = 1_000_000
const users = 100_000
const readers = 8
const slow = 8
const mostMib = 250
const mostMs = 50
const betweenMs = 5
const leastSamples = 1_000
/** The broken service answers each after seconds. */
const controlSamples = 50

const reading = fileURLToPath(new URL('list-readers.mts', import.meta.url))

/** What the control asks for: its lists are read at once, and the largest would take all memory. */
const someOf = (org: number): string[] => [
  `/admin/public/api/organization/${org}/users`,
  `/svc/v1/audit?org_id=${org}&action=createUser`,
]

type Store = {
  dataDir: string
  operator: string
  org: number
  reader: string
  other: { org: number; key: string }
}

/** Starts a program on the store; resolves when it listens. */
const start = async (
  program: readonly string[],
  { dataDir, operator }: Pick<Store, 'dataDir' | 'operator'>,
) => {
  const child = spawn(
    process.execPath,
    [...program, 'serve', '--port', '0', '--data-dir', dataDir, '--no-profile', '-o', 'json'],
    { env: { PATH: process.env.PATH, SVC_BOOTSTRAP_API_KEY: operator }, stdio: ['ignore', 'pipe', 'ignore'] },
  )
  const lines = createInterface({ input: child.stdout })
  const baseUrl = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      if (line.startsWith('{')) resolve((JSON.parse(line) as { base_url: string }).base_url)
    })
    child.once('exit', (code) => reject(new Error(`The service ended with ${code}`)))
  })
  return {
    baseUrl,
    /** The most memory that it had, MiB. */
    mib: (): number =>
      Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024,
    stop: async (): Promise<void> => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}

const createStore = async (dataDir: string): Promise<Store> => {
  const operator = `svc_op_torture_${randomBytes(24).toString('hex')}`
  const service = await start([bin], { dataDir, operator })
  const add = async (name: string, scope: string) => {
    const { id: org } = await must(
      call(service.baseUrl, 'createOrganization', operator, { name, slug: name }),
    )
    const input = { name, org_id: org, scopes: [scope] }
    return { org, key: (await must(call(service.baseUrl, 'createKey', operator, input))).key }
  }
  const large = await add('large', 'read')
  const other = await add('other', 'all')
  await service.stop()
  fillStore(dataDir, { org: large.org, rows, users })
  return { dataDir, operator, org: large.org, reader: large.key, other }
}

type Measured = {
  p99: number
  mib: number
  count: number
  outcomes: Record<string, number>
  verified: string
}

/** Calls of another organization beside all readers, until each list was read completely and the chain is verified. */
const measure = async (
  program: readonly string[],
  store: Store,
  { paths, verify, samples }: { paths: string[]; verify: boolean; samples: number },
): Promise<Measured> => {
  const service = await start(program, store)
  const { baseUrl } = service
  const what = JSON.stringify({ origin: new URL(baseUrl).origin, paths, readers, slow })
  const child = spawn(process.execPath, ['--import', 'tsx', reading, what], {
    env: { PATH: process.env.PATH, SVC_API_KEY: store.reader },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const outcomes: Record<string, number> = {}
  const read = new Set<string>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { path, outcome } = JSON.parse(line) as { path: string; outcome: string }
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    read.add(path)
  })
  const home = temporaryFolder()
  const env = { SVC_BASE_URL: baseUrl, SVC_API_KEY: store.reader, SVC_CONFIG_DIR: home.path }
  const verification = { rows: '', over: !verify }
  const runVerify = async (): Promise<void> => {
    const { exit, stdout, stderr } = await svc(['audit', 'verify', '--jq', '.rows'], env)
    verification.rows = exit === 0 ? stdout.trim() : `exit ${exit}: ${stderr}`
    verification.over = true
  }
  const verifying = verify && runVerify()
  const times: number[] = []
  let failed = 0
  while (times.length < samples || read.size < paths.length || !verification.over) {
    const began = performance.now()
    const name = `fence ${times.length}`
    const fence = { org_id: store.other.org, name, latitude: 1, longitude: 2, radius: 100, is_active: 1 }
    const isWrite = times.length % 4 === 0
    const called = isWrite
      ? call(baseUrl, 'createGeofence', store.other.key, fence)
      : call(baseUrl, 'getOrganization', store.other.key, { orgIdOrSlug: 'other' })
    const isAnswered = await called.then(
      ({ status }) => status === 200,
      () => false,
    )
    if (!isAnswered) failed++
    times.push(performance.now() - began)
    await pause(betweenMs)
  }
  await verifying
  child.kill('SIGKILL')
  const mib = service.mib()
  await service.stop()
  home.remove()
  const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
  if (failed > 0) outcomes['failed calls of another organization'] = failed
  return { p99, mib, count: times.length, outcomes, verified: verification.rows }
}

const spoken = ({ p99, mib }: Measured): string =>
  `p99 of another organization ${p99.toFixed(1)} ms, memory of the service ${mib.toFixed(0)} MiB`

export const torture: Torture = {
  name: `Lists of ${rows} audit rows and ${users} users, ${readers} read at once with a read key and ${slow} not read at all`,
  must: `0: below ${mostMib} MiB, p99 of another organization below ${mostMs} ms, every list complete`,
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    const whole = createVariant([
      {
        file: 'service/http/list-answer.ts',
        from: 'const firstRows = 100',
        to: 'const firstRows = 100_000_000',
      },
      {
        file: 'service/call/pagination.ts',
        from: 'const readAtMost = 2_000',
        to: 'const readAtMost = 100_000_000',
      },
    ])
    try {
      const store = await createStore(folder.path)
      const real = await measure([bin], store, {
        paths: pathsOf(store.org),
        verify: true,
        samples: leastSamples,
      })
      const broken = await measure(whole.program, store, {
        paths: someOf(store.org),
        verify: false,
        samples: controlSamples,
      })
      const isBad = ({ p99, mib }: Measured): boolean => p99 >= mostMs || mib >= mostMib
      const { 200: good = 0, ...others } = real.outcomes
      const isVerified = Number(real.verified) >= rows
      const odd = Object.values(others).reduce((sum, count) => sum + count, 0)
      return {
        count: real.count,
        failures: Number(isBad(real)) + Number(!isVerified) + odd,
        hits: { 'lists that were read completely': good, ...others },
        control: Number(isBad(broken)),
        examples: [
          `${spoken(real)}; svc audit verify: ${real.verified} rows`,
          `built whole: ${spoken(broken)}`,
        ],
      }
    } finally {
      whole.remove()
      folder.remove()
    }
  },
}
