import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { describeCommand, type CommandNode } from '../../../src/cli/program/command-node.ts'
import { commandTree, openContext } from '../../../src/cli/main.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { table } from '../../../src/contract/table.ts'
import { startService } from '../../../src/service/lifecycle/serve.ts'
import { memoryIo } from '../memory-io.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'
import { machine } from '../../machine.ts'

/** Commands without an operation that change neither the service nor the files of svc. */
const reading = new Set([
  'user export',
  'geofence map',
  'timeslot week',
  'approve wait',
  'approve verify',
  'approve tools',
  'approve health',
  'audit verify',
  'export',
  'diff',
  'mcp',
  'profile list',
  'profile show',
  'doctor',
  'commands',
  'completion',
  'help',
  'events tail',
  'hook status',
  'guard check',
  'top',
  'serve',
  'demo',
  // Programs call these, not people; each waits for a person before anything happens.
  'mcp gate',
  'hook run',
  'guard exec',
  'guard ssh',
  'guard git',
])

const operations: Operation[] = Object.values(table)
const readsAlone = (words: string): boolean =>
  reading.has(words) ||
  (operations.some(({ cli }) => cli === words) &&
    operations.every(({ cli, effect }) => cli !== words || effect === 'read'))

type Leaf = { words: string; node: CommandNode }
const leaves = (node: CommandNode, words: string[] = []): Leaf[] =>
  node.commands.length === 0
    ? [{ words: words.join(' '), node }]
    : node.commands.flatMap((child) => leaves(child, [...words, child.name]))

// `apply` shows its plan and asks.
const hasDryRun = ({ words, node }: Leaf): boolean =>
  words === 'apply' || node.flags.some(({ flags }) => flags === '--dry-run')

const { path: dir, remove } = temporaryFolder()
const config = join(dir, 'config')
const seen: string[] = []
let server: Server
let writing: Leaf[]
beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.end('{"status":"success","message":"ok","data":{"id":1,"slug":"acme"}}')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const all = leaves(describeCommand(await commandTree(openContext(memoryIo()))))
  writing = all.filter(({ words }) => !readsAlone(words))
})
afterAll(() => {
  server.close()
  remove()
})

const run = (line: string) =>
  svc(line, {
    cwd: dir,
    env: {
      SVC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/public/api`,
      SVC_API_KEY: 'k',
      SVC_CONFIG_DIR: config,
      SVC_MCP_URL: 'http://127.0.0.1:9/mcp',
      ...machine,
    },
  })

/** Every file in the folder, with its content. */
const files = (folder = dir): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )

beforeEach(() => (seen.length = 0))

test('every command that writes has --dry-run', () => {
  expect(writing.length).toBeGreaterThan(50)
  expect(writing.filter((leaf) => !hasDryRun(leaf)).map(({ words }) => words)).toEqual([])
})

test('the example of each command sends nothing and saves nothing with --dry-run', async () => {
  for (const file of ['secret.txt', 'code.txt', 'otp.txt', 'token.txt'])
    writeFileSync(join(dir, file), 'hush')
  writeFileSync(join(dir, 'deploy.sh'), '#!/bin/sh\n', { mode: 0o755 })
  await run('profile create prod --base-url https://host.example/admin/public/api')
  await run('profile create old --base-url https://host.example/admin/public/api')
  const before = files()
  const failed: string[] = []
  // Commands on a file or on stored data have tests of their own.
  const own = /^(?:\S+ import|apply|service .*|approve inbox|hook install|profile logout)$/
  for (const { words, node } of writing.filter((leaf) => !own.test(leaf.words))) {
    const example = /^ {2}svc (.*)$/m.exec(node.after)?.[1] ?? words
    const line = example
      .replace(/--with-key < \S+/, '')
      .replace(/create prod/, 'create new')
      .replace(/#.*$/, '')
      .replace(/^(.*?)( -- .*)?$/, '$1 --dry-run -o json$2')
    const { exit, out, err } = await run(line)
    if (exit !== 0 || out === '') failed.push(`svc ${line}: ${exit} ${err}`)
  }
  expect(failed).toEqual([])
  // A slug and a rule are looked up, and a hook checks its key, which are reads.
  const reads = /^GET \S+\/(?:organization\/acme|whoami|rules\/destroy)$/
  expect(seen.filter((request) => !reads.test(request))).toEqual([])
  expect(files()).toEqual(before)
})

describe('a command that sends no request', () => {
  const url = 'https://host.example/admin/public/api'
  test.each([
    [
      `profile create fresh --base-url ${url} --org acme --with-key`,
      { name: 'fresh', base_url: url, org: 'acme' },
    ],
    ['profile set prod org=acme', { name: 'prod', base_url: url, org: 'acme' }],
    ['profile use old', { name: 'old', base_url: url }],
    ['profile remove old', { name: 'old', removed: true }],
    [`profile login fresh --base-url ${url}`, { name: 'fresh', base_url: url }],
  ])('shows the resulting profile: svc %s --dry-run', async (line, shown) => {
    const before = files()
    const { exit, out } = await run(`${line} --dry-run -o json`)
    expect({ exit, shown: JSON.parse(out) as unknown }).toEqual({ exit: 0, shown })
    expect(files()).toEqual(before)
  })

  test('fails with --dry-run as it would without', async () => {
    expect((await run('profile use nope --dry-run')).exit).toBe(5)
    expect((await run(`profile create prod --base-url ${url} --dry-run`)).exit).toBe(3)
  })

  test('prints a tool call and does not make it', async () => {
    const { exit, out } = await run('approve request Deploy --to +12025550101 --mcp --dry-run -o json')
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toEqual({
      url: 'http://127.0.0.1:9/mcp',
      tool: 'request_approval_async',
      arguments: { action: 'Deploy', approver_mobile: '+12025550101' },
    })
  })

  test('does not create a software key', async () => {
    const before = files()
    const { exit, out } = await run('user enroll 7 --org 1 --software --dry-run -o json')
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      method: 'POST',
      file: expect.stringContaining(config),
    })
    expect(seen).toEqual([])
    expect(files()).toEqual(before)
  })
})

describe('the data of a service', () => {
  beforeAll(async () => {
    const data = { host: '127.0.0.1', port: 0, dataDir: join(dir, 'data'), env: {}, log: () => undefined }
    await (await startService(data)).stop()
    await run('service backup kept.db --data-dir data')
  })

  test.each([
    ['backup new.db --data-dir data', { file: expect.stringContaining('new.db') }],
    ['restore kept.db --data-dir fresh', { file: expect.stringContaining('kept.db') }],
    ['migrate --data-dir data', { from: expect.any(Number), to: expect.any(Number) }],
    ['reset-operator-key --data-dir data', { revokes: 'every operator key' }],
  ])('service %s --dry-run changes nothing', async (line, shown) => {
    const before = readdirSync(dir, { recursive: true })
    const store = readFileSync(join(dir, 'data', 'svc.db'))
    const { exit, out } = await run(`service ${line} --dry-run -o json`)
    expect({ exit, shown: JSON.parse(out) as unknown }).toEqual({
      exit: 0,
      shown: expect.objectContaining(shown),
    })
    expect(readdirSync(dir, { recursive: true })).toEqual(before)
    expect(readFileSync(join(dir, 'data', 'svc.db')).equals(store)).toBe(true)
  })

  test.each([
    ['backup kept.db --data-dir data', 1],
    ['backup new.db --data-dir nowhere', 5],
    ['restore kept.db --data-dir data', 1],
    ['restore nowhere.db --data-dir fresh', 5],
  ])('service %s --dry-run fails as the command would', async (line, exit) => {
    expect((await run(`service ${line} --dry-run`)).exit).toBe(exit)
    expect((await run(`service ${line}`)).exit).toBe(exit)
  })
})
