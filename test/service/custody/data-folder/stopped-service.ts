import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { startService, type RunningService } from '../../../../src/service/lifecycle/serve.ts'
import { temporaryFolder } from '../../../temporary-folder.ts'
import { keepService } from '../../kept-service.ts'
import { fill, leaveIn } from '../kept-values.ts'

// After `installHooks`, each test has the data folder of a stopped service, with a value in every place for wrapped ones.

export let folder: string
export let dataDir: string
let operatorKey: string
let running: RunningService[]
const startFilled = keepService(fill)

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  let remove: () => void
  beforeEach(async () => {
    ;({ path: folder, remove } = temporaryFolder())
    dataDir = join(folder, 'data')
    running = []
    const { service } = await startFilled({ dev: true })
    operatorKey = service.operatorKey
    await leaveIn(service, dataDir)
  })
  afterEach(async () => {
    for (const service of running) await service.stop()
    remove()
  })
}

/** Starts a service on the folder. It is stopped after the test. */
export const start = async (dir = dataDir, env = {}): Promise<RunningService> => {
  const service = await startService({ port: 0, dataDir: dir, env, log: () => undefined })
  running.push(service)
  return service
}

/** The status and the body of a GET with the operator's key. */
export const get = async (
  service: RunningService,
  path: string,
): Promise<[number, { keys: { kid: string }[] }]> => {
  const answer = await fetch(new URL(path, service.baseUrl), {
    headers: { 'x-api-key': operatorKey, connection: 'close' },
  })
  return [answer.status, (await answer.json()) as { keys: { kid: string }[] }]
}

export const notify = (): void => undefined
