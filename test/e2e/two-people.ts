import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { createApprover, type Approver } from '../service/approver.ts'
import type { TestService } from '../service/harness.ts'
import { createRule } from '../service/rule-fixture.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { createPerson, remote, type Person } from './person.ts'
import { outcome, startSvc } from './processes.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'

// After `installHooks`, each test has an organization with two people, Ada and Grace, and the environment of a command that may
// ask them.

const operator = 'svc_op_endtoend_0123456789012345678901234567890'
let folder: ReturnType<typeof temporaryFolder>
export const path = (name: string): string => join(folder.path, name)
export let service: ServiceHere
export let api: TestService
export let ada: Person
export let grace: Approver
export let env: Record<string, string>
let people = 0

export const keyFor = async (scopes: string[]): Promise<string> => {
  const body = { name: scopes.join(), org_id: ada.org.id, scopes }
  return (await api.call('POST', '/svc/v1/keys', { body })).body.data.key
}

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (): void => {
  folder = temporaryFolder()
  beforeAll(async () => {
    service = await startServiceHere(path('data'), operator, { dev: true })
    api = remote(service.baseUrl, operator)
  })
  afterAll(async () => {
    await service.stop()
    folder.remove()
  })
  beforeEach(async () => {
    people += 1
    ada = await createPerson(api, people)
    grace = await createApprover(api, ada.org.id, 50 + people)
    const key = await keyFor(['ask'])
    writeFileSync(path('ask.key'), key, { mode: 0o600 })
    env = {
      SVC_BASE_URL: service.baseUrl,
      SVC_API_KEY: key,
      SVC_ORG: ada.org.slug,
      SVC_CONFIG_DIR: path(`config-${people}`),
      HOME: path(`home-${people}`),
    }
  })
}

export const hold = async (match: object, more: object = {}): Promise<string> =>
  (await createRule(api, ada.org.id, { members: [ada.id, grace.id], match, ...more })).rule
export const started = (args: string[]) => outcome(startSvc(args, env))
/** Nobody was asked who would not have been. */
export const nobody = async (): Promise<void> => expect(await ada.requests('pending')).toEqual([])
export const shells = { type: 'command', argv: ['sh', '**'] }
export const tools = { type: 'tool_call', tool: ['*'] }
export const texts = { type: 'text', text: ['*production*'] }
export const deploy = 'Deploy to production'
