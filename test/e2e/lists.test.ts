import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGeofence } from './geofence.ts'
import { svcHere } from './prepare.ts'
import { type Ended } from './processes.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'
import { findPort } from '../free-port.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { typeLine } from './shell.ts'

const key = 'svc_op_endtoend_0123456789012345678901234567890'
const folder = temporaryFolder()
const dataDir = join(folder.path, 'data')
let service: ServiceHere
let port: string
let env: Record<string, string>

const run = (...args: string[]): Promise<Ended> => svcHere(args, env)
const create = (name: string): Promise<Ended> => createGeofence(name, env)

beforeAll(async () => {
  port = String(await findPort())
  service = await startServiceHere(dataDir, key, { port })
  env = { SVC_CONFIG_DIR: join(folder.path, 'config'), SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key }
  await run('org', 'create', '--name', 'Acme')
  for (const name of ['A', 'B', 'C']) await create(name)
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

describe('a truncated list', () => {
  test('prints a command that shows the rest when it is typed into a shell', async () => {
    const list = ['audit', 'list', '--org', 'acme', '--actor', 'operator (key 1)', '--jq', '.[].seq']
    let { stdout, stderr } = await run('--base-url', service.baseUrl, ...list, '--limit', '3')
    const seen = [stdout]
    for (let more; (more = /^More: (svc .+)$/m.exec(stderr)?.[1]);) {
      ;({ stdout, stderr } = await typeLine(more, { ...env, SVC_BASE_URL: 'http://127.0.0.1:9' }))
      seen.push(stdout)
    }
    expect(seen).toEqual(['4\n3\n2\n', '1\n'])
  })
})
