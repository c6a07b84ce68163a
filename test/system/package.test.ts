import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'

// The package of the command line, installed as docs/deploy.md says, with an empty home folder.

const root = fileURLToPath(new URL('../..', import.meta.url))
const { path: folder, remove } = temporaryFolder()
const release = join(folder, 'release')
const prefix = join(folder, 'installed')
const svc = join(prefix, 'bin', 'svc')
const installed = join(prefix, 'lib', 'node_modules', 'svc')
const configDir = join(folder, 'config')
const env = { PATH: process.env.PATH, HOME: folder, SVC_CONFIG_DIR: configDir }

const run = (command: string, args: string[], cwd = folder): string =>
  execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
let printed = ''

beforeAll(() => {
  // Without the build, because other tests are running what is built.
  execFileSync(process.execPath, ['scripts/release.mjs', release], { cwd: root })
  const file = join(release, `svc-${version}.tgz`)
  const { stderr } = spawnSync(
    'npm',
    [
      'install',
      '--global',
      '--prefix',
      prefix,
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--no-update-notifier',
      file,
    ],
    { cwd: folder, encoding: 'utf8' },
  )
  printed = stderr
})

afterAll(remove)

test('the installed svc prints its version', () => {
  expect(run(svc, ['--version'])).toMatch(/^svc \d+\.\d+\.\d+( \([\w.-]+\))?\n$/)
})

test('is installed by one command without a warning, in at most 12 packages and 35 MB', () => {
  expect(printed).toBe('')
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
  const packages = files.filter((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(file))
  expect(packages.length + 1).toBeLessThanOrEqual(12)
  const bytes = files.reduce((sum, file) => sum + statSync(join(installed, file)).size, 0)
  expect(bytes).toBeLessThan(35_000_000)
})

test('exports nothing to programs, and names who wrote what it contains', () => {
  const load = `require.resolve(${JSON.stringify(installed)})`
  expect(spawnSync(process.execPath, ['-e', load]).status).not.toBe(0)
  const notices = readFileSync(join(installed, 'THIRD_PARTY_NOTICES.txt'), 'utf8')
  for (const name of ['commander', 'hono', 'kysely', '@simplewebauthn/browser'])
    expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+, MIT$`, 'm'))
})

type Bill = { components: { name: string; version: string; hashes: { content: string }[] }[] }

test('its bill of materials lists what is bundled and what is installed beside it', () => {
  const bill = JSON.parse(readFileSync(join(release, `svc-${version}.cdx.json`), 'utf8')) as Bill
  const names = bill.components.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['hono', 'pg', 'libsql', 'jq-wasm', 'detect-libc']))
  expect(names).not.toContain('vitest')
  for (const { hashes } of bill.components) expect(hashes[0]!.content).toMatch(/^[0-9a-f]{128}$/)
})

test('the checksums are those of the files', () => {
  expect(() =>
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release }),
  ).not.toThrow()
})

test('the installed package contains the completions', () => {
  for (const ending of ['bash', 'zsh', 'fish'])
    expect(existsSync(join(installed, 'completions', `svc.${ending}`))).toBe(true)
})

test('the installed svc prints a sample configuration, and reads it', () => {
  const sample = run(svc, ['help', 'configuration'])
  expect(sample).toBe(readFileSync(join(root, 'docs', 'svc.sample.yaml'), 'utf8'))
  writeFileSync(join(folder, 'svc.yaml'), sample)
  // It names secrets in files that do not exist, so reading it reports the first of them.
  const { stderr } = spawnSync(svc, ['serve', '--port', '0', '--config', 'svc.yaml'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  expect(stderr).toContain('/run/secrets/smtp-password')
})

test('the installed svc serves, and manages its own service without copying a key', async () => {
  const args = ['serve', '--port', '0', '--data-dir', join(folder, 'data'), '-o', 'json']
  const child: ChildProcess = spawn(svc, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
    expect(JSON.parse(line)).toMatchObject({ event: 'ready' })
    run(svc, ['org', 'create', '--name', 'Acme Corp', '--slug', 'acme'])
    const orgs: unknown = JSON.parse(run(svc, ['org', 'list', '-o', 'json']))
    expect(orgs).toMatchObject([{ slug: 'acme', name: 'Acme Corp' }])
    expect(statSync(configDir).mode & 0o777).toBe(0o700)
  } finally {
    child.kill()
  }
  const [code] = (await once(child, 'exit')) as [number | null]
  expect(code).toBe(0)
})
