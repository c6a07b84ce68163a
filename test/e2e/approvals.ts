import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { outcome, startService, startSvc, svc, type Service } from './processes.ts'
import { watch } from './terminal.ts'
import { findPort } from '../free-port.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// One process requests an approval, and a person decides in another: the built program against the real service.

export const operator = 'svc_op_endtoend_0123456789012345678901234567890'
let folder: ReturnType<typeof temporaryFolder>
export const path = (name: string): string => join(folder.path, name)
export let service: Service
export let env: Record<string, string>
export let people = 0

let port: string
/** Starts the service, also after it has ended, on the same port. */
export const startAgain = async (): Promise<void> => {
  service = await startService(path('data'), operator, ['--dev', '--port', port])
}
export const ok = async (args: string[]): Promise<string> => {
  const { exit, stdout, stderr } = await svc(args, env)
  if (exit !== 0) throw new Error(`svc ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (): void => {
  beforeAll(async () => {
    folder = temporaryFolder()
    people = 0
    port = String(await findPort())
    await startAgain()
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

/** Starts a command. `printed` waits until its output matches. */
export const begin = (args: string[], extra: Record<string, string> = {}) => {
  const child = startSvc(args, { ...env, ...extra })
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
