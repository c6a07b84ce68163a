import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { ApprovalRecord } from '../../src/contract/approval.ts'
import type { AuditRow } from '../../src/contract/audit.ts'
import { hosts } from '../../src/cli/hook/host.ts'
import { countingServer, readLedger } from '../e2e/gate-client.ts'
import { installedLine } from '../e2e/hook-line.ts'
import { createPerson, remote, type Person } from '../e2e/person.ts'
import { bin, outcome } from '../e2e/processes.ts'
import { startServiceHere, type ServiceHere } from '../e2e/service-here.ts'
import { createApprover, decide, type Approver, type Deciding } from '../service/approver.ts'
import { dataOf } from '../service/fixtures.ts'
import type { TestService } from '../service/harness.ts'
import { answerTo, cookieOf, fromPhone } from '../service/page/phone.ts'
import { createRule } from '../service/rule-fixture.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { findProgram } from './find-program.ts'
import { real } from './real-hosts.ts'
import { startModel, type ScriptedCall } from './scripted-model.ts'

// A real host with a tool server, behind a hook or the gate, and a rule of two people that holds what writes.

const operator = 'svc_op_endtoend_0123456789012345678901234567890'
let folder: ReturnType<typeof temporaryFolder>
let service: ServiceHere
let api: TestService
let runs = 0

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (): void => {
  beforeAll(async () => {
    folder = temporaryFolder()
    service = await startServiceHere(join(folder.path, 'data'), operator, { dev: true })
    api = remote(service.baseUrl, operator)
  })
  afterAll(async () => {
    await service.stop()
    folder.remove()
  })
}

export type HostName = 'claude' | 'codex'
export type Edge = 'hook' | 'gate'

export type Stage = {
  ada: Person
  grace: Approver
  rule: string
  /** The environment of commands of the operator. */
  env: Record<string, string>
  path(name: string): string
  /** A command for the shell that writes itself into the ledger of the tools. */
  shell: string
  ran(): ReturnType<typeof readLedger>
  run(calls: ScriptedCall[]): Promise<{ ended: Promise<unknown>; told(): string }>
  tap(approver: Pick<Approver, 'key'>, deciding?: Deciding): Promise<void>
  records(): Promise<ApprovalRecord[]>
  audit(): Promise<AuditRow[]>
  /** The ids of the requests that the approver page lists to this person. */
  history(approver: Pick<Approver, 'key'>): Promise<string[]>
}

/** What the rule holds there, by the names that the service gets. */
const held = (host: HostName, edge: Edge) =>
  edge === 'hook'
    ? { server: [hosts[host].title], tool: ['Bash', 'mcp__ops__write_file'] }
    : { server: ['ops'], tool: ['write_file'] }

export const openStage = async (host: HostName, edge: Edge, grant?: object): Promise<Stage> => {
  runs += 1
  const path = (name: string): string => join(folder.path, `${runs}`, name)
  for (const name of ['home', 'work']) mkdirSync(path(name), { recursive: true })
  const ada = await createPerson(api, runs)
  const grace = await createApprover(api, ada.org.id, 50 + runs)
  const { rule } = await createRule(api, ada.org.id, {
    members: [ada.id, grace.id],
    match: { type: 'tool_call', ...held(host, edge), arguments: { path: ['*'] } },
    ...(grant && { grant }),
  })
  const body = { name: 'agent', org_id: ada.org.id, scopes: ['ask'] }
  const { key } = dataOf(await api.call('POST', '/svc/v1/keys', { body }))
  writeFileSync(path('ask.key'), key, { mode: 0o600 })

  const ledger = path('ledger')
  const own = { HOME: path('home'), SVC_CONFIG_DIR: path('agent') }
  const way = ['--base-url', service.baseUrl, '--key-file', path('ask.key')]
  const variables = [`LEDGER=${ledger}`, `SVC_CONFIG_DIR=${path('agent')}`]
  const server = [process.execPath, countingServer]
  const gate = [process.execPath, bin, 'mcp', 'gate', '--rules', path('gate.yaml'), ...way, '--env', 'LEDGER']
  writeFileSync(path('gate.yaml'), 'server: ops\nrules:\n  - tools: read_file\n    action: pass\n')
  if (edge === 'hook') {
    const flags = ['--match', 'Bash,mcp__ops__write_file', '--org', ada.org.slug, ...way]
    await installedLine(host, flags, own)
  }
  const command = ['/usr/bin/env', ...variables, ...(edge === 'gate' ? [...gate, '--', ...server] : server)]

  const run: Stage['run'] = async (calls) => {
    const { args, env: more, withServer } = real[host]!
    const model = await startModel(...calls)
    const all = [...args(model.url), ...withServer!('ops', command, path('servers.json'))]
    const child = spawn(findProgram(host)!, all, {
      cwd: path('work'),
      env: { PATH: process.env.PATH, SHELL: '/bin/sh', TERM: 'dumb', CI: '1', ...own, ...more(model.url) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => {
      child.kill('SIGKILL')
      model.close()
    })
    return { ended: outcome(child), told: () => model.requests.at(-1)!.text }
  }
  const page = async (at: string) =>
    dataOf(await api.call('GET', `/svc/v1/${at}?org_id=${ada.org.id}&limit=500`))
  return {
    ada,
    grace,
    rule,
    env: { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: operator, SVC_CONFIG_DIR: path('operator') },
    path,
    shell: `printf '{"tool":"Bash","args":{},"at":"%s"}\\n' "$(date -u +%FT%T.%3NZ)" >> ${ledger}`,
    ran: () => readLedger(ledger),
    run,
    tap: async ({ key: phone }, deciding) => {
      dataOf(await decide(api, await ada.waitForRequest(), phone, deciding))
    },
    records: () => page('approvals'),
    audit: () => page('audit'),
    history: async ({ key: phone }) => {
      const headers = { 'sec-fetch-site': 'same-origin' }
      const { origin } = new URL(service.baseUrl.replace('127.0.0.1', 'localhost'))
      const { challenge } = dataOf(await fromPhone(api, 'POST', 'challenge', { headers }))
      const response = answerTo(challenge, phone, true, { origin, rpId: 'localhost' })
      const session = await fromPhone(api, 'POST', 'session', { headers, body: { challenge, response } })
      const cookie = cookieOf(session)
      const { decisions } = dataOf(await fromPhone(api, 'GET', 'decisions', { headers, cookie }))
      return decisions.map((one: { request_id: string }) => one.request_id)
    },
  }
}
