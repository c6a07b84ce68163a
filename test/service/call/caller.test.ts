import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAuthenticator, newSecret } from '../../../src/service/keys/authenticator.ts'
import { changeKeyRows } from '../../../src/service/keys/rows.ts'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
let time: number
beforeEach(async () => {
  time = Date.parse('2030-01-01T00:00:00Z')
  service = await startTestService({ now: () => new Date(time) })
})
afterEach(() => service.close())

const operatorRow = () =>
  service.storage.read((db) => db.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow())

test('a key is 256 random bits after a readable prefix, and only its hash is stored', async () => {
  expect(newSecret('operator').key).toMatch(/^svc_op_[0-9a-f]{8}_[\w-]{43}$/)
  expect(newSecret('organization').prefix).toMatch(/^svc_org_[0-9a-f]{8}$/)
  const row = await operatorRow()
  expect(service.operatorKey.startsWith(`${row.prefix}_`)).toBe(true)
  expect(JSON.stringify(row)).not.toContain(service.operatorKey.slice(-43))
})

test('a key is its own until the moment it expires', async () => {
  const authenticate = createAuthenticator(service)
  const { keyring } = service
  const expires_at = new Date(time + 1000).toISOString()
  await service.storage.write((db) => changeKeyRows({ db, keyring }, { expires_at }, (keys) => keys), {
    org: 0,
  })
  expect(await authenticate(service.operatorKey)).toMatchObject({
    keyId: (await operatorRow()).id,
    orgId: null,
  })
  time += 1000
  await expect((async () => authenticate(service.operatorKey))()).rejects.toMatchObject({
    code: 'key_expired',
  })
})

test('rejects a cached key after it is revoked', async () => {
  const authenticate = createAuthenticator(service)
  await authenticate(service.operatorKey)
  await authenticate(service.operatorKey)
  const { keyring, storage } = service
  await storage.write((db) => changeKeyRows({ db, keyring }, { revoked_at: storage.now() }, (keys) => keys), {
    org: 0,
  })
  expect(await authenticate(service.operatorKey)).toBeUndefined()
})

test('the last use is noted at most once a minute', async () => {
  const authenticate = createAuthenticator(service)
  const use = async (): Promise<string | null> => {
    await authenticate(service.operatorKey)
    // Writes are done in order: this one is behind the note.
    await service.storage.write(async () => undefined, { org: null })
    return (await operatorRow()).last_used_at
  }
  const first = await use()
  expect(first).toBe('2030-01-01T00:00:00.000Z')
  time += 59_000
  expect(await use()).toBe(first)
  time += 1000
  expect(await use()).toBe('2030-01-01T00:01:00.000Z')
})
