import { afterEach, beforeEach } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { startFakeHosted, type FakeHosted } from '../fake-hosted.ts'
import type { MemoryOptions } from './memory-io.ts'
import { svc } from './svc.ts'

// Whoever calls `installHooks` has these anew for each test: another service of the contract, and a folder to stand in.

export let service: FakeHosted
export let folder: ReturnType<typeof temporaryFolder>

/** Installs the hooks that set it up, in the test file that calls this. */
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

/** The environment of a command that talks to it. */
export const toService = (): Record<string, string> => ({
  SVC_CONFIG_DIR: folder.path,
  SVC_BASE_URL: service.baseUrl,
  SVC_API_KEY: 'key',
})

/** Runs a command that talks to it, in the folder. */
export const run = (command: string | string[], { env, ...options }: MemoryOptions = {}) =>
  svc(command, { cwd: folder.path, ...options, env: { ...toService(), ...env } })
