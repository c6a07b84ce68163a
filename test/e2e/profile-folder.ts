import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { createPerson, remote, type Person } from './person.ts'
import { startService, svc, type Service } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// What guards a command before it is sent: profiles, credential commands, approvals. The built program throughout.

export const operator = 'svc_op_endtoend_0123456789012345678901234567890'
export let folder: ReturnType<typeof temporaryFolder>
export let env: Record<string, string>
export let service: Service
let people = 0

export const somebody = (): Promise<Person> => createPerson(remote(service.baseUrl, operator), ++people)

export const ok = async (args: string[], stdin = ''): Promise<string> => {
  const { exit, stdout, stderr } = await svc(args, env, stdin)
  if (exit !== 0) throw new Error(`svc ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  folder = temporaryFolder()
  env = { SVC_CONFIG_DIR: join(folder.path, 'config'), HOME: folder.path }
  beforeAll(async () => {
    service = await startService(join(folder.path, 'data'), operator, ['--dev'])
  })
  afterAll(async () => {
    await service.stop()
    folder.remove()
  })
}
