import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { backup, restore } from '../../../src/service/lifecycle/backup.ts'
import { startService, type RunningService } from '../../../src/service/lifecycle/serve.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

let folder: string
let remove: () => void
let dataDir: string
let file: string
let service: RunningService
let key: string

const start = (dir: string) => startService({ port: 0, dataDir: dir, env: {}, log: () => undefined })

const ask = async (path: string, body?: unknown) => {
  const answer = await fetch(service.baseUrl + path, {
    method: body ? 'POST' : 'GET',
    headers: { 'x-api-key': key, 'content-type': 'application/json', connection: 'close' },
    body: body === undefined ? null : JSON.stringify(body),
  })
  return (await answer.json()) as { data: { slug: string }[] }
}

beforeEach(async () => {
  ;({ path: folder, remove } = temporaryFolder())
  dataDir = join(folder, 'data')
  file = join(folder, 'svc.backup')
  service = await start(dataDir)
  key = service.operatorKey!
  await ask('/organization/create', { name: 'Acme', slug: 'acme' })
  await ask('/organization/1/idp-api-creds', { provider: 'okta', client_id: 'id', client_secret: 's3cret' })
})
afterEach(async () => {
  await service.stop()
  remove()
})

const keySet = async (baseUrl: string): Promise<{ keys: unknown[] }> =>
  (await (await fetch(`${new URL(baseUrl).origin}/.well-known/jwks.json`)).json()) as { keys: unknown[] }

test('a backup made while the service runs becomes the same service elsewhere', async () => {
  const { keys } = await keySet(service.baseUrl)
  backup(dataDir, file)
  await ask('/organization/create', { name: 'Too late', slug: 'late' })
  await service.stop()
  const elsewhere = join(folder, 'elsewhere')
  await restore(file, elsewhere)
  service = await start(elsewhere)
  expect(service.operatorKey).toBeUndefined()
  expect((await ask('/organizations')).data.map(({ slug }) => slug)).toEqual(['acme'])
  expect((await keySet(service.baseUrl)).keys).toEqual(keys)
})

test('only its owner can read a backup, and no other file is left', () => {
  const before = process.umask(0)
  try {
    backup(dataDir, file)
  } finally {
    process.umask(before)
  }
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder).sort()).toEqual(['data', 'svc.backup'])
})

test('a restored store does not contain its own master key', async () => {
  backup(dataDir, file)
  const masterKey = readFileSync(join(dataDir, 'master.key'), 'utf8').trim()
  expect(readFileSync(file).includes(masterKey)).toBe(true)
  const elsewhere = join(folder, 'elsewhere')
  await restore(file, elsewhere)
  expect(readFileSync(join(elsewhere, 'svc.db')).includes(masterKey)).toBe(false)
  for (const name of ['svc.db', 'master.key'])
    expect(statSync(join(elsewhere, name)).mode & 0o777).toBe(0o600)
})

test('does not overwrite an existing file', () => {
  writeFileSync(file, 'precious')
  expect(() => backup(dataDir, file)).toThrow('already exists')
  expect(readFileSync(file, 'utf8')).toBe('precious')
})

test('reports a folder that does not exist', () => {
  expect(() => backup(dataDir, join(folder, 'nowhere', 'x'))).toThrow('could not be written')
})

test('does not restore into a directory that is not empty', async () => {
  backup(dataDir, file)
  await expect(restore(file, dataDir)).rejects.toMatchObject({ code: 'data_dir_not_empty' })
  expect((await ask('/organizations')).data).toHaveLength(1)
})

test.each([
  ['no database', () => Buffer.from('hello '.repeat(1000))],
  ['a store that is no backup', () => readFileSync(join(dataDir, 'svc.db'))],
  ['half a backup', () => readFileSync(file).subarray(0, 20_000)],
  ['nothing', () => Buffer.alloc(0)],
])('%s is refused and leaves an empty directory', async (_, bytes) => {
  backup(dataDir, file)
  const bad = join(folder, 'bad')
  writeFileSync(bad, bytes())
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(elsewhere)
  await expect(restore(bad, elsewhere)).rejects.toMatchObject({ name: 'SvcError', code: 'bad_backup' })
  expect(readdirSync(elsewhere)).toEqual([])
})

test('unsent messages of a backup are sent only on request', async () => {
  await service.stop()
  // No provider is configured, so the message stays queued.
  service = await startService({
    port: 0,
    dataDir,
    env: { SVC_SMS_URL: 'http://127.0.0.1:1' },
    log: () => undefined,
  })
  const said = { mobile: '+12025550101', type: 'notice', message: 'The door is open.' }
  await ask('/send/global/notification', said)
  backup(dataDir, file)
  await service.stop()
  const elsewhere = join(folder, 'elsewhere')
  await restore(file, elsewhere)
  expect(readdirSync(elsewhere).filter((name) => name.includes('partial'))).toEqual([])
  service = await start(elsewhere)
  const outbox = `${new URL(service.baseUrl).origin}/svc/v1/outbox`
  const answer = await fetch(outbox, { headers: { 'x-api-key': key, connection: 'close' } })
  expect(await answer.json()).toMatchObject({
    data: [{ state: 'dead', retryable: true, error: 'restored from a backup: it may have been sent since' }],
  })
})
