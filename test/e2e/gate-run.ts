import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { createPerson, remote, type Person } from './person.ts'
import { outcome, startService, startSvc, type Service } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// The gate as a built program, between a client of raw lines and a real server, with a real service.

export const countingServer = fileURLToPath(new URL('counting-server.mjs', import.meta.url))
export const operator = 'svc_op_endtoend_0123456789012345678901234567890'

let folder: ReturnType<typeof temporaryFolder>
export let service: Service
export let ada: Person
let people = 0
let runs = 0
/** A path in the folder of this file. */
export const path = (name: string): string => join(folder.path, name)

/** Installs the set-up hooks in the test file that calls it. A phone receives only five requests in ten minutes. */
export const installHooks = (): void => {
  folder = temporaryFolder()
  beforeAll(async () => {
    service = await startService(path('data'), operator, ['--dev'])
  })
  afterAll(async () => {
    await service.stop()
    folder.remove()
  })
  beforeEach(async () => {
    ada = await createPerson(remote(service.baseUrl, operator), (people += 1))
    await keyFile(['ask'], 'ask.key')
  })
}

/** Writes a new key of Ada's organization to a file. */
export const keyFile = async (scopes: string[], name: string): Promise<string> => {
  const body = { name, org_id: ada.org.id, scopes }
  const answer = await remote(service.baseUrl, operator).call('POST', '/svc/v1/keys', { body })
  writeFileSync(path(name), answer.body.data.key, { mode: 0o600 })
  return path(name)
}

export const rulesFor = (mobile: string, more = ''): string =>
  `server: files\nto: "${mobile}"\ntimeout: 60\nrules:\n  - tools: [read_*, change, ask_client]\n    action: pass\n${more}`

// oxlint-disable-next-line no-explicit-any -- tests read what the gate and the service answer
type Anything = any
export type Line = { id?: unknown; method?: string; params?: Anything; result?: Anything; error?: Anything }

/** Ada's requests with this status. */
export const requests = async (status: string): Promise<Anything[]> => ada.requests(status)

type Starting = {
  rules?: string
  flags?: string[]
  server?: string[]
  /** Variables of the gate; all of them are passed on to the server. */
  env?: Record<string, string>
  program?: (args: string[], env: Record<string, string>) => ReturnType<typeof startSvc>
}

/** The arguments of a gate, and the ledger of its server. */
export const gateArguments = ({ rules = rulesFor(ada.mobile), flags, server, env = {} }: Starting = {}) => {
  const run = (runs += 1)
  const ledger = path(`ledger-${run}`)
  const file = path(`gate-${run}.yaml`)
  writeFileSync(file, rules)
  const passed = { LEDGER: ledger, ...env }
  const own = flags ?? ['--base-url', service.baseUrl, '--key-file', path('ask.key')]
  const names = Object.keys(passed).flatMap((name) => (name.startsWith('SVC_') ? [] : ['--env', name]))
  const command = server ?? [process.execPath, countingServer]
  return {
    ledger,
    file,
    args: ['mcp', 'gate', '--rules', file, ...own, ...names, '--', ...command],
    env: { SVC_CONFIG_DIR: path('config'), ...passed } as Record<string, string>,
  }
}

/** Starts a gate and a client that has been initialized. */
export const startGate = async (starting: Starting = {}) => {
  const { args, env, ledger, file } = gateArguments(starting)
  const child = (starting.program ?? startSvc)(args, env)
  const lines: Line[] = []
  const waiting = new Set<() => void>()
  const wake = (): void => waiting.forEach((one) => one())
  createInterface({ input: child.stdout! }).on('line', (line) => {
    lines.push(JSON.parse(line) as Line)
    wake()
  })
  let log = ''
  child.stderr!.on('data', (text: Buffer) => {
    log += text.toString()
    wake()
  })
  let isOver = false
  const ended = outcome(child).then((all) => {
    isOver = true
    wake()
    return all
  })
  child.stdin!.on('error', () => undefined)

  const until = async <T>(find: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = find()
      if (found !== undefined && found !== false) return found
      if (isOver) throw new Error(`The gate has ended: ${log}`)
      await new Promise<void>((resolve) => {
        const one = (): void => {
          waiting.delete(one)
          resolve()
        }
        waiting.add(one)
      })
    }
  }
  const write = (line: string | Buffer): void => {
    child.stdin!.write(line)
    child.stdin!.write('\n')
  }
  const send = (message: object): void => write(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const answer = (id: unknown): Promise<Line> =>
    until(() => lines.find((line) => line.id === id && line.method === undefined))
  const call = (id: unknown, name: string, args: object = {}, meta?: object): void =>
    send({ id, method: 'tools/call', params: { name, arguments: args, ...(meta && { _meta: meta }) } })

  send({
    id: 'init',
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { roots: {}, sampling: {}, elicitation: {} },
      clientInfo: { name: 'robot', title: 'Robot 7', version: '1' },
    },
  })
  await answer('init')
  send({ method: 'notifications/initialized' })

  const ledgerLines = (): { tool: string; args: Anything }[] =>
    existsSync(ledger)
      ? readFileSync(ledger, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      : []
  return {
    child,
    file,
    ledger,
    lines,
    ended,
    log: () => log,
    until,
    write,
    send,
    answer,
    call,
    /** What the server has carried out. */
    done: ledgerLines,
    /** What the server has received. */
    raw: () => readFileSync(`${ledger}.raw`),
    close: () => {
      child.stdin!.end()
      return ended
    },
  }
}

/** Whether a process exists. */
export const exists = (pid: number): boolean => {
  try {
    // A process that has ended and was not collected is gone too.
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

export const gone = async (pid: number): Promise<void> => {
  while (exists(pid)) await sleep(20)
}
