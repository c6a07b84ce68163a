import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sha256 } from '../../src/core/ids.ts'
import { createKeyring } from '../../src/service/custody/create-keyring.ts'
import { openSqlite } from '../../src/service/storage/sqlite/open.ts'
import { selfSigned } from '../certificate.ts'
import {
  decryptPush,
  startPushService,
  subscribeBrowser,
  type PushService,
} from '../service/page/push-service.ts'
import { startService, svc, type Service } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// The built service notifies a browser over real TLS. The test inserts the subscription, because a page needs a browser.

const operator = 'svc_op_endtoend_0123456789012345678901234567890'
const masterKey = randomBytes(32)
const folder = temporaryFolder()
const dataDir = join(folder.path, 'data')
const authority = join(folder.path, 'ca.pem')
let pushService: PushService
let service: Service

const start = async (env: Record<string, string> = {}): Promise<void> => {
  const secrets = { SVC_MASTER_KEY: masterKey.toString('base64') }
  service = await startService(dataDir, operator, ['--dev'], { ...secrets, ...env })
}
const run = async (...args: string[]): Promise<string> => {
  const env = {
    SVC_BASE_URL: service.baseUrl,
    SVC_API_KEY: operator,
    SVC_CONFIG_DIR: join(folder.path, 'config'),
  }
  const { exit, stdout, stderr } = await svc(args, env)
  if (exit !== 0) throw new Error(`svc ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

const subscribe = async (subscription: { endpoint: string }): Promise<void> => {
  const storage = await openSqlite({ path: join(dataDir, 'svc.db') })
  const { wrap } = await createKeyring(storage, masterKey)
  await storage.write(
    async (db) => {
      const { id } = await db.selectFrom('devices').select('id').executeTakeFirstOrThrow()
      const endpoint_hash = sha256(subscription.endpoint)
      const wrapped = wrap(JSON.stringify(subscription), `device_push:${id}:${endpoint_hash}`)
      await db
        .insertInto('device_push')
        .values({ device_id: id, session_id: 1, endpoint_hash, wrapped, created_at: storage.now() })
        .execute()
    },
    { org: 0 },
  )
  await storage.close()
}

beforeAll(async () => {
  const certificate = selfSigned()
  writeFileSync(authority, certificate.cert)
  pushService = await startPushService(certificate)
  await start()
  await run('org', 'create', '--name', 'Acme', '--slug', 'acme')
  const ada = ['--first-name', 'Ada', '--last-name', 'Lovelace', '--email', 'ada@acme.example']
  await run('user', 'create', '--org', 'acme', ...ada, '--country-code', '+1', '--mobile', '2025550101')
  await run('user', 'enroll', '1', '--org', 'acme', '--software')
  await service.stop()
})
afterAll(async () => {
  await service.stop()
  await pushService.close()
  folder.remove()
})

test('a request is pushed only over trusted TLS, contains only its ID and organization, and waits until then', async () => {
  const { subscription, own, auth } = subscribeBrowser(`${pushService.origin}/p`)
  await subscribe(subscription)
  await start()
  const request_id = await run('approve', 'submit', 'Deploy 4.2', '--to', '+12025550101', '-o', 'id')
  const testing = run('notify', 'test', '--channel', 'push', '--to', '1')
  await expect(testing).rejects.toThrow('DEPTH_ZERO_SELF_SIGNED_CERT')
  expect(pushService.received).toEqual([])
  await service.stop()

  // The next attempt is at most two seconds away.
  const heard = pushService.heard()
  await start({ NODE_EXTRA_CA_CERTS: authority })
  await heard
  const [{ body, headers }] = pushService.received as [PushService['received'][0]]
  expect(decryptPush(body, own, auth)).toBe(JSON.stringify({ request_id, organization: 'Acme' }))
  expect(headers.topic).toBe(await run('notify', 'outbox', 'list', '--kind', 'approval', '-o', 'id'))
})
