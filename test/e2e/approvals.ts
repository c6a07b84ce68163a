import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { prepare } from './prepare.ts'
import { remote } from './person.ts'
import { outcome, startService, startSvc, type Service } from './processes.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'
import { watch } from './terminal.ts'
import { findPort } from '../free-port.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// One process requests an approval, and a person decides in another: the built program against the real service.

export const operator = 'svc_op_endtoend_0123456789012345678901234567890'
let folder: ReturnType<typeof temporaryFolder>
export const path = (name: string): string => join(folder.path, name)
export let service: ServiceHere
export let env: Record<string, string>
export let people = 0

let port: string
/** The service, if it has a process of its own. */
let apart: Service | undefined
const startApart = async (): Promise<void> => {
  service = apart = await startService(path('data'), operator, ['--dev', '--port', port])
}
/** Kills the service, which has a process of its own. */
export const killService = (): Promise<unknown> => apart!.stop('SIGKILL')
/** Starts the service that was killed, on the same port. */
export const startAgain = startApart
export const ok = (args: string[]): Promise<string> => prepare(args, env)

/** Installs the set-up hooks in the test file that calls it. A service that is to be killed needs a process of its own. */
export const installHooks = ({ ownProcess = false } = {}): void => {
  beforeAll(async () => {
    folder = temporaryFolder()
    people = 0
    port = String(await findPort())
    if (ownProcess) await startApart()
    else service = await startServiceHere(path('data'), operator, { dev: true, port })
    env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: operator, SVC_CONFIG_DIR: path('config') }
    await ok(['org', 'create', '--name', 'Acme', '--slug', 'acme'])
    // The key that enrolls a device must not be the key that requests approvals.
    const asks = await ok(['key', 'create', '--name', 'asks', '--can', 'ask', '--jq', '.key'])
    env = { ...env, SVC_ASK_KEY: asks.trim() }
  })
  afterAll(async () => {
    await service.stop()
    folder.remove()
  })
  // A new user for each test, because one phone receives at most five requests in ten minutes.
  beforeEach(async () => {
    people += 1
    const mobile = `202555${String(1000 + people)}`
    const name = ['--first-name', 'Ada', '--last-name', 'Lovelace', '--email', `ada${people}@acme.example`]
    const key = path(`approver-${people}.json`)
    await ok(['user', 'create', '--org', 'acme', ...name, '--country-code', '+1', '--mobile', mobile])
    await ok(['user', 'enroll', String(people), '--org', 'acme', '--software', '--file', key])
    env = { ...env, SVC_ORG: 'acme', SVC_DEFAULT_MOBILE: `+1${mobile}` }
  })
}

export const key = (): string[] => ['--authenticator', path(`approver-${people}.json`)]
export const decide = (decision: string, id: string, ...more: string[]): Promise<string> =>
  ok(['approve', 'inbox', ...key(), `--${decision}`, id, ...more])

type Request = { request_id: string; subject: { data: Record<string, unknown> } }

/** What waits for this person, newest first. */
export const listPending = async (): Promise<Request[]> => {
  const mobile = encodeURIComponent(env.SVC_DEFAULT_MOBILE!)
  const path = `/svc/v1/approvals?status=pending&approver_mobile=${mobile}`
  return (await remote(service.baseUrl, operator).call('GET', path)).body.data
}

/** Waits for a request to this person. */
export const pending = async (): Promise<Request> => {
  for (;;) {
    const [first] = await listPending()
    if (first) return first
    await sleep(20)
  }
}

/** A program of the shell that prints what it says. */
export const shellScript = (name: string, says: string): string => {
  writeFileSync(path(name), `#!/bin/sh\necho ${says} "$@"\n`)
  chmodSync(path(name), 0o755)
  return path(name)
}

let scripts = 0
/** A program of Node. It is hashed for each approval, and Node itself is large. */
export const nodeScript = (code: string): string => {
  const file = path(`script-${++scripts}.cjs`)
  writeFileSync(file, `#!${process.execPath}\n${code}\n`, { mode: 0o755 })
  return file
}

/** Starts a command. `printed` waits until its output matches. */
export const begin = (args: string[], extra: Record<string, string> = {}, cwd = process.cwd()) => {
  const child = startSvc(args, { ...env, ...extra }, { cwd })
  const [output, ended] = [watch(child), outcome(child)]
  const printed = async (pattern: RegExp): Promise<RegExpExecArray> => {
    await output.until(() => pattern.test(output.written()))
    const match = pattern.exec(output.written())
    if (!match) throw new Error(`It ended: ${output.written()}`)
    return match
  }
  return { child, ended, printed }
}
export const requestLine = /Asked .*\((apr_[\w-]+)\)/
