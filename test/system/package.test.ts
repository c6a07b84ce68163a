import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'

// The packed package, installed as docs/deploy.md says, with an empty home folder.

type Lockfile = { packages: Record<string, { version: string; dev?: boolean } | undefined> }

const root = fileURLToPath(new URL('../..', import.meta.url))
const { path: folder, remove } = temporaryFolder()
const installed = join(folder, 'installed')
const svc = join(folder, 'svc')
const configDir = join(folder, 'config')
const env = { PATH: process.env.PATH, HOME: folder, SVC_CONFIG_DIR: configDir }

const run = (command: string, args: string[], cwd = folder): string =>
  execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const npm = (cwd: string, ...args: string[]): string =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

beforeAll(() => {
  // Like `npm pack`, but without the build, because other tests are running what is built.
  npm(root, 'run', '--silent', 'prepack')
  npm(root, 'pack', '--ignore-scripts', '--silent', '--pack-destination', folder)
  npm(root, 'run', '--silent', 'postpack')
  const packed = readdirSync(folder).find((name) => name.endsWith('.tgz'))!
  mkdirSync(installed)
  run('tar', ['-xzf', packed, '--strip-components', '1', '-C', installed])
  npm(installed, 'ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund')
  symlinkSync(join(installed, 'bin', 'svc.js'), svc)
})

afterAll(remove)

test('the installed svc prints its version', () => {
  expect(run(svc, ['--version'])).toMatch(/^svc \d+\.\d+\.\d+\n$/)
})

test('the installed package has exactly the dependencies of the lockfile', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lockfile
  const found = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    .filter((file) => /node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(file))
    .map((file) => {
      const { version } = JSON.parse(readFileSync(join(installed, file), 'utf8')) as { version: string }
      return [file.replace(/\/package\.json$/, ''), version] as const
    })
  expect(found.length).toBeGreaterThan(50)
  for (const [path, version] of found)
    expect([path, version, packages[path]?.dev]).toEqual([path, packages[path]?.version, undefined])
  expect(existsSync(join(root, 'npm-shrinkwrap.json'))).toBe(false)
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
