import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { connectGate, countingServer, type Anything } from './gate-client.ts'
import { createPerson, remote, type Person } from './person.ts'
import { startSvc } from './processes.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// The gate as a built program, between a client of raw lines and a real server, with a real service.

export const operator = 'svc_op_endtoend_0123456789012345678901234567890'

let folder: ReturnType<typeof temporaryFolder>
export let service: ServiceHere
export let ada: Person
let people = 0
let runs = 0
/** A path in the folder of this file. */
export const path = (name: string): string => join(folder.path, name)

/** Installs the set-up hooks in the test file that calls it. A phone receives only five requests in ten minutes. */
export const installHooks = (): void => {
  folder = temporaryFolder()
  beforeAll(async () => {
    service = await startServiceHere(path('data'), operator, { dev: true })
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

export const factorsFor = (mobile: string, more = ''): string =>
  `server: files\nto: "${mobile}"\ntimeout: 60\nrules:\n  - tools: [read_*, change, ask_client]\n    action: pass\n${more}`

/** Ada's requests with this status. */
export const requests = async (status: string): Promise<Anything[]> => ada.requests(status)

type Starting = {
  rules?: string
  flags?: string[]
  server?: string[]
  /** Variables of the gate; all of them are passed on to the server. */
  env?: Record<string, string>
  /** Other variables for the server. */
  passed?: Record<string, string>
}

/** The arguments of a gate, and the ledger of its server. */
export const gateArguments = ({
  rules = factorsFor(ada.mobile),
  flags,
  server,
  env = {},
  passed: given,
}: Starting = {}) => {
  const run = (runs += 1)
  const ledger = path(`ledger-${run}`)
  const file = path(`gate-${run}.yaml`)
  writeFileSync(file, rules)
  const passed: Record<string, string> = given ?? { LEDGER: ledger, ...env }
  const own = flags ?? ['--base-url', service.baseUrl, '--key-file', path('ask.key')]
  const names = Object.keys(passed).flatMap((name) => (name.startsWith('SVC_') ? [] : ['--env', name]))
  const command = server ?? [process.execPath, countingServer]
  return {
    ledger,
    file,
    args: [
      'mcp',
      'gate',
      '--rules',
      file,
      ...own,
      ...names,
      ...(command.length > 0 ? ['--', ...command] : []),
    ],
    env: { SVC_CONFIG_DIR: path('config'), ...passed } as Record<string, string>,
  }
}

/** Starts a gate and a client that has been initialized. */
export const startGate = async (starting: Starting = {}) => {
  const { args, env, ledger } = gateArguments(starting)
  return connectGate(startSvc(args, env), ledger)
}
