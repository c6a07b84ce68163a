import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pageFiles } from './page.mjs'

// `npm run dev`: the service from its sources, and the page, on a temporary store with sample data. Whatever changes is built
// again and restarts the service. Its data stay until Ctrl-C.
const port = process.argv[2] ?? '8080'
const root = fileURLToPath(new URL('..', import.meta.url))
const main = join(root, 'src/main.ts')
const tsx = join(root, 'node_modules/.bin/tsx')
const folder = mkdtempSync(join(tmpdir(), 'svc-dev-'))
const config = join(folder, 'config')
const env = { PATH: process.env.PATH, HOME: folder, SVC_CONFIG_DIR: config }

const buildPage = async () => {
  mkdirSync(join(root, 'dist/page'), { recursive: true })
  for (const [name, data] of await pageFiles()) writeFileSync(join(root, 'dist/page', name), data)
}

const run = async (line) => {
  const { stdout } = await promisify(execFile)(tsx, [main, ...line.split(' ')], { cwd: root, env })
  return stdout.trim()
}
const create = 'user create --org acme --country-code +1'

const addSampleData = async () => {
  await run('org create --name Acme --slug acme')
  await run(`${create} --first-name Ada --last-name Lovelace --email ada@acme.example --mobile 2025550101`)
  await run(`${create} --first-name Grace --last-name Hopper --email grace@acme.example --mobile 2025550102`)
  await run('user enroll 2 --org acme --software')
  const link = await run('user enroll 1 --org acme --jq .url')
  console.log(`
Page      ${link.replace('127.0.0.1', 'localhost')}
          registers this browser for Ada; then http://localhost:${port}/approver
Terminal  export SVC_CONFIG_DIR=${config}; alias svc='${tsx} ${main}'
          svc approve request "Deploy 4.2" --to +12025550101
          svc approve inbox      decides for Grace, +12025550102, with a software key
`)
}

process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
await buildPage()
const watched = ['watch', '--clear-screen=false', '--include', join(root, 'dist/page/sw.js'), main]
const flags = ['--dev', '--port', port, '--data-dir', join(folder, 'data')]
const service = spawn(tsx, [...watched, 'serve', ...flags], {
  cwd: root,
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
})
service.once('exit', (code) => process.exit(code ?? 0))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => service.kill(signal))
service.stdout.pipe(process.stdout)
await new Promise((resolve) => {
  service.stdout.on('data', (text) => `${text}`.includes('svc is ready') && resolve())
})
await addSampleData()

let timer
watch(join(root, 'src/page'), { recursive: true }, (_, name) => {
  clearTimeout(timer)
  // The build writes the English texts. A mistake in the page must not end the watch.
  if (name && !name.endsWith('english.ts'))
    timer = setTimeout(() => void buildPage().catch((error) => console.error(`${error}`)), 100)
})
