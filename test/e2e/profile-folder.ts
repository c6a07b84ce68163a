import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type Approver, createApprover } from '../service/approver.ts'
import { holdCalls } from '../service/rule-fixture.ts'
import { createPerson, remote, type Person } from './person.ts'
import { prepare } from './prepare.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// A service and a folder for profiles, credential commands and required approvals, with the built program.

export const operator = 'svc_op_endtoend_0123456789012345678901234567890'
export let folder: ReturnType<typeof temporaryFolder>
export let env: Record<string, string>
export let service: ServiceHere
let people = 0

export const newPerson = (): Promise<Person> => createPerson(remote(service.baseUrl, operator), ++people)

/** A rule of the person's organization: they, or one other person, must approve these commands. */
export const holdFor = async ({ id, org }: Person, operation: string[]): Promise<Approver> => {
  const api = remote(service.baseUrl, operator)
  const other = await createApprover(api, org.id, 60 + people)
  await holdCalls(api, org.id, operation, [id, other.id])
  return other
}

export const ok = (args: string[], stdin = ''): Promise<string> => prepare(args, env, stdin)

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (): void => {
  folder = temporaryFolder()
  env = { SVC_CONFIG_DIR: join(folder.path, 'config'), HOME: folder.path }
  beforeAll(async () => {
    service = await startServiceHere(join(folder.path, 'data'), operator, { dev: true })
  })
  afterAll(async () => {
    await service.stop()
    folder.remove()
  })
}
