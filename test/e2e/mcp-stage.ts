import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { createPerson, remote, type Person } from './person.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// After `installHooks`, a service runs, and `env` lets svc reach it with a key.

export const key = 'svc_op_endtoend_0123456789012345678901234567890'
export let folder: ReturnType<typeof temporaryFolder>
export let config: Record<string, string>
export let service: ServiceHere
export let env: Record<string, string>
let people = 0
export const person = (): Promise<Person> => createPerson(remote(service.baseUrl, key), (people += 1))

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeAll(async () => {
    folder = temporaryFolder()
    config = { SVC_CONFIG_DIR: join(folder.path, 'config') }
    service = await startServiceHere(join(folder.path, 'data'), key, { dev: true })
    env = { ...config, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key }
  })
  afterAll(async () => {
    await service.stop()
    folder.remove()
  })
}
