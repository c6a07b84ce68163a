import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { LogRecord } from '../../src/core/log.ts'
import type { StorePlace } from '../../src/service/lifecycle/place.ts'
import type { ServeOptions } from '../../src/service/lifecycle/serve-options.ts'
import { startService, type RunningService } from '../../src/service/lifecycle/serve.ts'
import { temporaryFolder } from '../temporary-folder.ts'

export type Listed = { data: { action: string }[] }

// After `installHooks`, each test has its own data folder, and the services that it starts are stopped.

export let folder: string
let remove: () => void
export let dataDir: string
let running: RunningService[]
const log: LogRecord[] = []

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(() => {
    ;({ path: folder, remove } = temporaryFolder())
    dataDir = join(folder, 'data')
    running = []
  })
  afterEach(async () => {
    for (const service of running) await service.stop()
    remove()
  })
}

export const start = async (
  options: Partial<Omit<ServeOptions, keyof StorePlace>> & { dataDir?: string } = {},
): Promise<RunningService> => {
  const service = await startService({ port: 0, dataDir, env: {}, log: (one) => log.push(one), ...options })
  running.push(service)
  return service
}

export const ask = (service: RunningService, path: string, key: string, init: RequestInit = {}) =>
  fetch(service.baseUrl + path, {
    ...init,
    headers: { 'x-api-key': key, 'content-type': 'application/json', connection: 'close' },
  })

export const portOf = (service: RunningService): number => Number(new URL(service.baseUrl).port)
