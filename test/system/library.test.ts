import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/library/svc.ts'
import { createPerson, remote, type Person } from '../e2e/person.ts'
import { startService, type Service } from '../e2e/processes.ts'
import { root } from '../source-tree.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { patienceMs } from '../patience.mts'

// A program of its own, which has installed the packed package, runs the examples of docs/library.md.

type Example = { language: 'ts' | 'js'; code: string; output: string }

const page = readFileSync(join(root, 'docs', 'library.md'), 'utf8')
const examples: Example[] = [...page.matchAll(/^```(ts|js)\n([^]*?)^```\n\n```text\n([^]*?)^```/gm)].map(
  ([, language, code, output]) => ({ language: language as 'ts' | 'js', code: code!, output: output! }),
)

const run = promisify(execFile)
const operator = 'svc_op_consumer_0123456789012345678901234567890'
const { path: folder, remove } = temporaryFolder()
const consumer = join(folder, 'consumer')
const fileOf = (i: number): string => `example-${i}.${examples[i]!.language === 'ts' ? 'mts' : 'cjs'}`
let service: Service
let person: Person
let env: Record<string, string | undefined>

beforeAll(async () => {
  mkdirSync(consumer)
  const release = join(folder, 'release')
  await run(process.execPath, ['scripts/release.mjs', release], { cwd: root })
  const packed = readdirSync(release).find((name) => /^svc-library-.*\.tgz$/.test(name))!
  writeFileSync(join(consumer, 'package.json'), '{"name":"consumer","private":true}')
  const quietly = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
  await run('npm', ['install', ...quietly, join(release, packed)], { cwd: consumer })
  for (const name of ['@types', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(consumer, 'node_modules', name))
  for (const [i, { code }] of examples.entries()) writeFileSync(join(consumer, fileOf(i)), code)
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    outDir: 'out',
    rootDir: '.',
  }
  writeFileSync(
    join(consumer, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['*.mts', '*.cts'] }),
  )

  service = await startService(join(folder, 'data'), operator, ['--dev'])
  person = await createPerson(remote(service.baseUrl, operator), 1)
  const admin = createClient({ baseUrl: service.baseUrl, apiKey: operator })
  const { key } = await admin.createKey({ name: 'deploys', scopes: ['ask'], org_id: person.org.id })
  await admin.close()
  const [all, ask] = [join(folder, 'key'), join(folder, 'ask-key')]
  writeFileSync(all, operator)
  writeFileSync(ask, String(key))
  env = {
    PATH: process.env.PATH,
    SVC_BASE_URL: service.baseUrl,
    SVC_KEY_FILE: all,
    SVC_ASK_KEY_FILE: ask,
    APPROVER: person.mobile,
  }
})

afterAll(async () => {
  await service.stop()
  remove()
})

test('the page has an output for each of its examples', () => {
  expect(examples.length).toBe([...page.matchAll(/^```(?:ts|js)$/gm)].length)
  expect(examples.length).toBeGreaterThan(4)
})

test('the examples compile in strict mode against the installed types, as ES modules and as CommonJS', async () => {
  writeFileSync(
    join(consumer, 'required.cts'),
    `import svc = require('svc-library')
     const client: svc.Client = svc.createClient({ baseUrl: 'https://svc.example.com', apiKey: 'k' })
     // @ts-expect-error -- a name that is not in the table
     client.createNothing
     // @ts-expect-error -- a misspelled field of an answer
     client.getApproval({ request_id: 'apr_1' }).then(({ statsu }) => statsu)
     // @ts-expect-error -- the radius is a number
     export const wrong = client.createGeofence({ org_id: 1, name: 'a', latitude: 1, longitude: 1, radius: 'far', is_active: 1 })`,
  )
  const tsc = join(root, 'node_modules', '.bin', 'tsc')
  const { stdout } = await run(tsc, ['-p', '.'], { cwd: consumer }).catch(
    (error: { stdout: string }) => error,
  )
  expect(stdout).toBe('')
})

test('the examples print what the page shows', async () => {
  for (const [i, { language, code, output }] of examples.entries()) {
    const file = language === 'ts' ? join('out', fileOf(i).replace('.mts', '.mjs')) : fileOf(i)
    const running = run(process.execPath, [file], { cwd: consumer, env, timeout: patienceMs })
    if (code.includes('watchApproval(')) await person.answer()
    const { stdout } = await running
    const parts = output.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    expect(stdout).toMatch(new RegExp(`^${parts.join('.*')}$`))
  }
})

test('an example that a bundler made into one file prints the same', async () => {
  const at = examples.findIndex(({ language }) => language === 'js')
  const bundle = join(folder, 'bundle.cjs')
  const esbuild = join(root, 'node_modules', '.bin', 'esbuild')
  await run(esbuild, [fileOf(at), '--bundle', '--platform=node', `--outfile=${bundle}`], { cwd: consumer })
  const { stdout } = await run(process.execPath, [bundle], { cwd: folder, env })
  expect(stdout).toBe(examples[at]!.output)
})
