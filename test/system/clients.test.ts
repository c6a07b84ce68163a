import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { overHttp, overStdio, call, eras } from '../e2e/mcp-client.ts'
import { createPerson, remote, type Person } from '../e2e/person.ts'
import { bin } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { machine } from '../machine.ts'

// Popular MCP clients from npm. Their versions are locked beside the scripts that run them. They are installed here, once
// for each lock, so that `npm ci` of svc stays small.

const scripts = fileURLToPath(new URL('clients', import.meta.url))
const cache = fileURLToPath(new URL('../../node_modules/.cache/svc-mcp-clients', import.meta.url))
const folder = temporaryFolder()
const config = { SVC_CONFIG_DIR: join(folder.path, 'config') }
let installed: string
let service: Awaited<ReturnType<typeof serve>>
let stop = async (): Promise<void> => undefined
let people = 0

/** Complete or absent: an interrupted installation is repeated. */
const install = async (): Promise<string> => {
  const lock = readFileSync(join(scripts, 'package-lock.json'))
  const home = join(cache, createHash('sha256').update(lock).digest('hex').slice(0, 16))
  if (!existsSync(home)) {
    const making = `${home}.${process.pid}`
    mkdirSync(making, { recursive: true })
    for (const name of ['package.json', 'package-lock.json', '.npmrc'])
      cpSync(join(scripts, name), join(making, name))
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-progress'], { cwd: making })
    renameSync(making, home)
  }
  cpSync(scripts, home, { recursive: true, filter: (path) => !path.includes('node_modules') })
  return home
}

/** `svc serve` as a new user types it: it creates a key and saves the profile `local`. Software keys need `--dev`. */
const serve = async () => {
  const args = [bin, 'serve', '--port', '0', '--dev', '--data-dir', join(folder.path, 'data'), '-o', 'json']
  const env = { ...machine, ...config }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'exit') as Promise<[number | null]>
  stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  const baseUrl = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as { event: string; base_url: string }
      if (event.event === 'ready') resolve(event.base_url)
    })
    void ended.then(([exit]) => reject(new Error(`svc serve ended with ${exit}`)))
  })
  const { profiles } = JSON.parse(readFileSync(join(config.SVC_CONFIG_DIR, 'profiles.json'), 'utf8')) as {
    profiles: { local: { api_key: string } }
  }
  return { baseUrl, key: profiles.local.api_key }
}

beforeAll(async () => {
  ;[installed, service] = await Promise.all([install(), serve()])
})
afterAll(async () => {
  await stop()
  folder.remove()
})

const person = (): Promise<Person> => createPerson(remote(service.baseUrl, service.key), (people += 1))

type Told = { tools: string[]; approved: string; denied: string }

/** Approves the first request and denies the second. */
const decide = async (ada: Person): Promise<void> => {
  await ada.answer()
  await ada.answer({ decision: 'deny' })
}

const statusOf = (text: string): unknown => (JSON.parse(text) as { status?: unknown }).status

/** What a client reports about the tools and both answers. */
const seen = ({ tools, approved, denied }: Told) => ({
  tools: tools.toSorted(),
  answers: [statusOf(approved), statusOf(denied)],
})
const expected = {
  tools: ['check_status', 'request_approval', 'request_approval_async'],
  answers: ['approved', 'denied'],
}

const http = () => ({ url: new URL('/mcp', service.baseUrl).href })
const stdio = () => ({
  command: process.execPath,
  args: [bin, 'mcp'],
  env: { ...machine, ...config },
})

/** Runs a client to its end while the person decides. */
const run = async (script: string, server: object, bridge = '') => {
  const ada = await person()
  const child = spawn(process.execPath, [join(installed, `${script}.mjs`), ada.mobile], {
    cwd: installed,
    env: { ...machine, HOME: folder.path, SERVER: JSON.stringify(server), BRIDGE: bridge },
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const report = once(child, 'close').then(() => {
    const last = out.trim().split('\n').at(-1)
    if (!last) throw new Error(`${script} ended without a word: ${err.slice(-2000)}`)
    return seen(JSON.parse(last) as Told)
  })
  await Promise.race([decide(ada), report])
  return report
}

test.each([
  ['the official SDK, version 1', 'sdk'],
  ['the Inspector', 'inspector'],
  ['the Vercel AI SDK', 'ai-sdk'],
  ['the LangChain adapters', 'langchain'],
])('%s connects, lists the tools, and gets an approval and a denial over HTTP', async (_, script) => {
  expect(await run(script, http())).toEqual(expected)
})

test.each(['mcp-remote', 'supergateway'])(
  '%s connects to the service, and returns an approval and a denial',
  async (bridge) => {
    expect(await run('sdk', http(), bridge)).toEqual(expected)
  },
)

test.each([
  ['the official SDK, version 1', 'sdk'],
  ['the Inspector', 'inspector'],
  ['the Vercel AI SDK', 'ai-sdk'],
  ['the LangChain adapters', 'langchain'],
])('%s starts svc mcp with the saved profile, and gets an approval and a denial', async (_, script) => {
  expect(await run(script, stdio())).toEqual(expected)
})

test.each(eras)(
  'the official SDK, version 2, gets an approval and a denial over HTTP and standard input (%s)',
  async (_, era) => {
    for (const client of [await overHttp(era, http().url), await overStdio(era, config)]) {
      const ada = await person()
      const ask = async (action: string): Promise<string> =>
        (await call(client, 'request_approval', { action, approver_mobile: ada.mobile, timeout_s: 60 })).text
      const deciding = decide(ada)
      const tools = (await client.listTools()).tools.map(({ name }) => name)
      const [approved, denied] = [await ask('Deploy 4.2'), await ask('Drop the table')]
      expect(seen({ tools, approved, denied })).toEqual(expected)
      await Promise.all([deciding, client.close()])
    }
  },
)
