import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { bin, svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startFakeHosted } from '../fake-hosted.ts'

// The start-up time depends on what a command loads. Words that occur only in a heavy part show which chunk contains it.

const run = promisify(execFile)
const dist = join(dirname(bin), '..', 'dist')
const heavy = {
  'the validator (zod)': 'invalid_union',
  'the profile store (conf)': 'projectName',
  'prompts (inquirer)': 'ExitPromptError',
  'tables (cli-table3)': 'top-mid',
  'the server (hono)': 'Context is not finalized',
  'the server (kysely)': 'kysely_migration',
  YAML: 'tag:yaml.org',
  CSV: 'CSV_',
  TOML: 'Invalid TOML',
  'a proxy (undici)': 'proxy-authorization',
}

const hook = `
const { writeFileSync } = require('node:fs')
process.on('exit', () => {
  const { modules, scripts } = require(process.env.LOADER)
  const chunks = [...modules.keys()].map((name) => require('node:path').join(process.env.DIST, name))
  const compiled = [...scripts].filter(([, { cachedDataRejected }]) => cachedDataRejected === false).map(([name]) => name)
  writeFileSync(process.env.LOADED, JSON.stringify({
    files: [...Object.keys(require.cache), ...chunks], builtins: process.moduleLoadList, compiled }))
})
`

type Loaded = { files: string[]; builtins: string[]; compiled: string[]; text: string }

const loadedBy = async (args: string[], env: Record<string, string>): Promise<Loaded> => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const [script, list] = [join(folder.path, 'hook.cjs'), join(folder.path, 'loaded.json')]
  writeFileSync(script, hook)
  const ended = await svc(args, {
    ...env,
    SVC_CONFIG_DIR: folder.path,
    NODE_OPTIONS: `--require=${script}`,
    LOADED: list,
    LOADER: join(dirname(bin), 'load.js'),
    DIST: dist,
  })
  expect(ended).toMatchObject({ exit: 0 })
  const { files, builtins, compiled } = JSON.parse(readFileSync(list, 'utf8')) as Loaded
  const own = files.filter((file) => file !== script)
  return { files: own, builtins, compiled, text: own.map((file) => readFileSync(file, 'utf8')).join('\n') }
}

/** Parts of Node that take a millisecond or more and that this command does not need. */
const slowBuiltins = [
  'child_process',
  'http2',
  'tls',
  'zlib',
  'crypto',
  'sqlite',
  'worker_threads',
  'internal/deps/undici/undici',
]
const modulesOf = ({ builtins }: Loaded): string[] =>
  slowBuiltins.filter((name) => builtins.includes(`NativeModule ${name}`))
const partsOf = ({ text }: Pick<Loaded, 'text'>): string[] =>
  Object.entries(heavy)
    .filter(([, word]) => text.includes(word))
    .map(([part]) => part)
const outside = ({ files }: Loaded): string[] =>
  files.filter((file) => !file.startsWith(dirname(bin) + sep) && !file.startsWith(dist + sep))

test('each heavy part is in some chunk of the build, so that this test can fail', () => {
  const all = readdirSync(dist)
    .filter((file) => file.endsWith('.cjs'))
    .map((file) => readFileSync(join(dist, file), 'utf8'))
    .join('\n')
  expect(Object.keys(heavy)).toEqual(partsOf({ text: all }))
})

test.each([
  ['org', 'list'],
  ['approve', 'list'],
])('svc %s %s, piped, loads only what it uses', async (...args) => {
  const hosted = await startFakeHosted()
  onTestFinished(() => hosted.close())
  const loaded = await loadedBy(args, { SVC_BASE_URL: hosted.baseUrl, SVC_API_KEY: 'key' })
  expect(hosted.seen).toHaveLength(1)
  expect(partsOf(loaded)).toEqual([])
  expect(modulesOf(loaded)).toEqual([])
  expect(outside(loaded)).toEqual([])
  expect(loaded.text.length).toBeLessThan(379_000)
  // The rest is loaded after the flag of `core/baseline-wasm.ts`.
  expect(loaded.compiled.length).toBeGreaterThan(30)
})

test.each([
  ['is missing', undefined],
  ['is truncated', Buffer.from([9, 0])],
  ['is for another version of V8', Buffer.alloc(4096, 1)],
])('compiles the source when the compiled code %s', async (_, content) => {
  const copy = temporaryFolder()
  onTestFinished(() => copy.remove())
  for (const name of ['bin', 'dist'])
    cpSync(join(dist, '..', name), join(copy.path, name), { recursive: true })
  const file = join(copy.path, 'dist/compiled.bin')
  const places = readFileSync(file).subarray(0, 4 + readFileSync(file).readUInt32LE(0))
  rmSync(file)
  if (content) writeFileSync(file, content.length < 100 ? content : Buffer.concat([places, content]))
  const { stdout } = await run(process.execPath, [join(copy.path, 'bin/svc.js'), 'help', 'exit-codes'])
  expect(stdout).toContain('130')
})

test.each([
  [['--version'], 7_100],
  [['--help'], 80_000],
  [['org', '--help'], 120_000],
] as const)('svc %j loads no client, no validator and no server', async (args, most) => {
  const loaded = await loadedBy([...args], {})
  expect(partsOf(loaded)).toEqual([])
  expect(modulesOf(loaded)).toEqual([])
  expect(loaded.builtins).not.toContain('NativeModule http')
  expect(outside(loaded)).toEqual([])
  expect(loaded.text.length).toBeLessThan(most)
})

test('names the command that builds it if it is not built yet', async () => {
  const copy = temporaryFolder()
  onTestFinished(() => copy.remove())
  cpSync(join(dist, '../bin'), join(copy.path, 'bin'), { recursive: true })
  await expect(run(process.execPath, [join(copy.path, 'bin/svc.js'), 'org', 'list'])).rejects.toMatchObject({
    code: 1,
    stderr: `svc: svc is not built yet\nhint: npm ci --prefix ${copy.path}\n`,
  })
})
