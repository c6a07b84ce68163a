import { afterAll, beforeAll } from 'vitest'
import { startService, type Service } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// Whoever calls `installHooks` has an empty service, a folder, and the environment of a command that uses its operator key.

export let folder: ReturnType<typeof temporaryFolder>
export let env: Record<string, string>

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  folder = temporaryFolder()
  let service: Service
  beforeAll(async () => {
    service = await startService(`${folder.path}/data`, `svc_op_1a2b3c4d_${'k'.repeat(32)}`)
    env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: service.key, SVC_CONFIG_DIR: folder.path }
  })
  afterAll(async () => {
    await service.stop()
    folder.remove()
  })
}
