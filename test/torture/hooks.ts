import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hostNames, type HostName } from '../../src/cli/hook/host.ts'
import { assert } from '../../src/client/software-authenticator.ts'
import { challengeOf } from '../../src/receipt/context.ts'
import { callHook, hookProcess, installedLine, withOthers, type Held } from '../e2e/hook-line.ts'
import { bin, startService, type Service } from '../e2e/processes.ts'
import { inputOf, letsRun } from '../hook-hosts.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { enrollApprover, request, type EnrolledApprover } from './enrolled-approver.ts'
import type { Result, Torture } from './torture.ts'

const operator = 'svc_op_torture_0123456789012345678901234567890'

type Stage = { service: Service; org: number; folder: string; askKey: string }
type Decision = 'approve' | 'deny'

/** One failure: what differs from a call that a person approves. */
type Failure = {
  flags?(stage: Stage): string[]
  input?(json: string): string
  line?(line: string): string
  /** What happens while the request is pending. */
  meanwhile?: Decision | NodeJS.Signals
}

const large = 'x'.repeat(40_000)
const failures: Record<string, Failure> = {
  denied: { meanwhile: 'deny' },
  'no decision': { flags: () => ['--timeout', '1'] },
  'service down': { flags: () => ['--base-url', 'http://127.0.0.1:1/'] },
  'unknown key': { flags: ({ folder }) => ['--key-file', join(folder, 'unknown.key')] },
  'key that can do more': { flags: ({ folder }) => ['--key-file', join(folder, 'operator.key')] },
  'broken JSON': { input: (json) => json.slice(0, -2) },
  'unknown event': { input: (json) => json.replaceAll(/"(?:hook_event_name|toolName)"/g, '"other"') },
  'call too large': { input: (json) => json.replace('touch', `touch ${large}`) },
  'flag of a later version': { line: (line) => `${line} --later` },
  'program gone': { line: (line) => line.replaceAll('/bin/svc.js', '/bin/gone.js') },
  'approved, and output full': { line: (line) => `${line} > /dev/full`, meanwhile: 'approve' },
  killed: { meanwhile: 'SIGKILL' },
}

const decide = async (
  { service }: Stage,
  request_id: string,
  { authenticator }: EnrolledApprover,
  decision: Decision,
): Promise<void> => {
  const { contexts, origin, rp_id } = await request(service.baseUrl, 'getCeremony', operator, { request_id })
  const challenge = challengeOf(new Uint8Array(Buffer.from(contexts[decision], 'base64url')))
  const response = assert(authenticator, { challenge, origin, rpId: rp_id })
  await request(service.baseUrl, 'decideApproval', operator, { request_id, decision, response })
}

const pending = async ({ service, org }: Stage, { mobile }: EnrolledApprover): Promise<string> => {
  for (;;) {
    const found = await request(service.baseUrl, 'listApprovals', operator, {
      org_id: org,
      status: 'pending',
      approver_mobile: mobile,
    })
    const [first] = found as unknown as { request_id: string }[]
    if (first) return first.request_id
    await sleep(20)
  }
}

const interfere = async (
  held: Held,
  stage: Stage,
  approver: EnrolledApprover,
  meanwhile: Failure['meanwhile'],
): Promise<void> => {
  if (meanwhile === undefined) return
  const id = await pending(stage, approver)
  if (meanwhile === 'approve' || meanwhile === 'deny') await decide(stage, id, approver, meanwhile)
  else process.kill(hookProcess(held.child.pid!), meanwhile)
}

let calls = 0
/** Makes one call as a host would. Returns whether the command of the agent ran. */
const attempt = async (
  host: HostName,
  { flags, input = (json) => json, line: change = (line) => line, meanwhile }: Failure,
  stage: Stage,
  naive?: (mobile: string) => string,
): Promise<boolean> => {
  const home = join(stage.folder, `home-${++calls}`)
  mkdirSync(home)
  const upstream = join(home, 'ran')
  const env = { HOME: home, SVC_CONFIG_DIR: join(home, 'svc') }
  const approver = await enrollApprover(stage.service.baseUrl, operator, stage.org)
  const common = [
    '--to',
    approver.mobile,
    '--org',
    'acme',
    '--timeout',
    '30',
    '--key-file',
    join(stage.folder, 'ask.key'),
    '--base-url',
    stage.service.baseUrl,
  ]
  const line = naive
    ? naive(approver.mobile)
    : change(await installedLine(host, withOthers(common, flags?.(stage) ?? []), env))
  const held = callHook(line, input(JSON.stringify(inputOf(host, `touch ${upstream}`))), env)
  await interfere(held, stage, approver, meanwhile)
  if (letsRun(host, await held.ended)) writeFileSync(upstream, '')
  return existsSync(upstream)
}

/** The hook that people write first: the exit code of `svc approve request`. */
const naiveLine =
  ({ folder, service }: Stage, baseUrl = service.baseUrl) =>
  (mobile: string): string =>
    `${process.execPath} ${bin} approve request "Run it" --to ${mobile} --org acme --timeout 1 --key-file ${folder}/ask.key --base-url ${baseUrl}`

const run = async (stage: Stage): Promise<Result> => {
  const hits: Record<string, number> = { 'approved, and ran': 0 }
  const examples: string[] = []
  let count = 0
  for (const host of hostNames) {
    if (await attempt(host, { meanwhile: 'approve' }, stage)) hits['approved, and ran']!++
    else examples.push(`${host}: approved, and did not run`)
    for (const [name, failure] of Object.entries(failures)) {
      count++
      hits[name] = (hits[name] ?? 0) + 1
      if (await attempt(host, failure, stage)) examples.push(`${host}: ${name}, and ran`)
    }
  }
  let control = 0
  for (const host of hostNames)
    for (const line of [naiveLine(stage), naiveLine(stage, 'http://127.0.0.1:1/')])
      if (await attempt(host, {}, stage, line)) control++
  return { count, failures: examples.length, hits, control, examples: examples.slice(0, 5) }
}

export const torture: Torture = {
  name: `Hooks of agents: ${hostNames.length} hosts, ${Object.keys(failures).length} failures each`,
  must: '0 calls that ran',
  run: async () => {
    const folder = temporaryFolder()
    const service = await startService(join(folder.path, 'data'), operator, ['--dev'])
    try {
      const { id: org } = await request(service.baseUrl, 'createOrganization', operator, {
        name: 'Acme',
        slug: 'acme',
      })
      const asks = { name: 'asks', org_id: org, scopes: ['ask'] }
      const { key: askKey } = await request(service.baseUrl, 'createKey', operator, asks)
      const keys = { ask: askKey, operator, unknown: `${askKey.slice(0, -4)}AAAA` }
      for (const [name, key] of Object.entries(keys))
        writeFileSync(join(folder.path, `${name}.key`), key, { mode: 0o600 })
      return await run({ service, org: Number(org), folder: folder.path, askKey })
    } finally {
      await service.stop()
      folder.remove()
    }
  },
}
