import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bin, svc, temporaryFolder } from '../e2e/processes.ts'
import { startFakeHosted } from '../fake-hosted.ts'

// What a command loads is what it costs to start. Words that only the heavy part holds tell whether a chunk has it.

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
  'a proxy (undici)': 'proxy-authorization',
}

const hook = `
const { writeFileSync } = require('node:fs')
process.on('exit', () => writeFileSync(process.env.LOADED, JSON.stringify({
  files: Object.keys(require.cache), builtins: process.moduleLoadList })))
`

type Loaded = { files: string[]; builtins: string[]; text: string }

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
  })
  expect(ended).toMatchObject({ exit: 0 })
  const { files, builtins } = JSON.parse(readFileSync(list, 'utf8')) as Loaded
  const own = files.filter((file) => file !== script)
  return { files: own, builtins, text: own.map((file) => readFileSync(file, 'utf8')).join('\n') }
}

/** Parts of Node that take a millisecond or more and that this command has no use for. */
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
  files.filter((file) => file !== bin && !file.startsWith(dist + sep))

test('each heavy part is somewhere in the build, so that its absence means something', () => {
  const all = readdirSync(dist)
    .filter((file) => file.endsWith('.cjs'))
    .map((file) => readFileSync(join(dist, file), 'utf8'))
    .join('\n')
  expect(Object.keys(heavy)).toEqual(partsOf({ text: all }))
})

test.each([
  ['org', 'list'],
  ['approve', 'list'],
])('svc %s %s, piped, loads what it uses and nothing heavy', async (...args) => {
  const hosted = await startFakeHosted()
  onTestFinished(() => hosted.close())
  const loaded = await loadedBy(args, { SVC_BASE_URL: hosted.baseUrl, SVC_API_KEY: 'key' })
  expect(hosted.seen).toHaveLength(1)
  expect(partsOf(loaded)).toEqual([])
  expect(modulesOf(loaded)).toEqual([])
  expect(outside(loaded)).toEqual([])
  expect(loaded.text.length).toBeLessThan(350_000)
})

test.each([
  [['--version'], 5_000],
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
