import { afterAll, beforeAll } from 'vitest'
import { startServiceHere, type ServiceHere } from './service-here.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// An empty service, a folder, and the environment of a command that uses the operator key.

export let folder: ReturnType<typeof temporaryFolder>
export let env: Record<string, string>
export let service: ServiceHere
/** A path in the folder. */
export const path = (name: string): string => `${folder.path}/${name}`

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = ({ dev = false } = {}): void => {
  folder = temporaryFolder()
  beforeAll(async () => {
    service = await startServiceHere(path('data'), `svc_op_1a2b3c4d_${'k'.repeat(32)}`, { dev })
    env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: service.key, SVC_CONFIG_DIR: path('config') }
  })
  afterAll(async () => {
    await service.stop()
    folder.remove()
  })
}
