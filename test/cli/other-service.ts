import { afterEach, beforeEach } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { startFakeHosted, type FakeHosted } from '../fake-hosted.ts'
import type { MemoryOptions } from './memory-io.ts'
import { svc } from './svc.ts'

// Another service of the contract and a folder, new for each test.

export let service: FakeHosted
export let folder: ReturnType<typeof temporaryFolder>

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (): void => {
  beforeEach(async () => {
    service = await startFakeHosted()
    folder = temporaryFolder()
  })
  afterEach(async () => {
    await service.close()
    folder.remove()
  })
}

/** The environment of a command that uses the service. */
export const toService = (): Record<string, string> => ({
  SVC_CONFIG_DIR: folder.path,
  SVC_BASE_URL: service.baseUrl,
  SVC_API_KEY: 'key',
})

/** Runs a command that uses the service, in the folder. */
export const run = (command: string | string[], { env, ...options }: MemoryOptions = {}) =>
  svc(command, { cwd: folder.path, ...options, env: { ...toService(), ...env } })
