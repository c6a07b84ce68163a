import { once } from 'node:events'
import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SvcError } from '../../src/core/errors.ts'
import { openPostgres } from '../../src/service/storage/postgres/open.ts'
import { selfSigned } from '../certificate.ts'
import { outcome, startSvc, svc } from '../e2e/processes.ts'
import { type PostgresServer, startPostgres } from '../service/storage/postgres-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const folder = temporaryFolder()
const secret = 'canary-pa55word'
const masterKey = '11'.repeat(32)
let server: PostgresServer
let silent: Server

const file = (name: string, text: string, mode = 0o644): string => {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

const sql = async (database: string, ...statements: string[]): Promise<void> => {
  const client = new pg.Client({ connectionString: server.url(database) })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

beforeAll(async () => {
  chmodSync(folder.path, 0o755)
  const { cert, key } = selfSigned()
  const certFile = file('cert.pem', cert)
  const keyFile = file('key.pem', key, 0o600)
  if (process.getuid?.() === 0) chownSync(keyFile, 65534, 65534)
  const hba = file(
    'hba.conf',
    'host all locked 127.0.0.1/32 scram-sha-256\nhost all nobody_else 127.0.0.1/32 reject\nhost all all 127.0.0.1/32 trust\n',
  )
  server = await startPostgres({
    durable: true,
    settings: `hba_file = '${hba}'\nssl = on\nssl_cert_file = '${certFile}'\nssl_key_file = '${keyFile}'`,
  })
  await sql(
    'postgres',
    `create role locked login password '${secret}'`,
    'create role limited login connection limit 0',
    'create role poor login',
    'create role weak login',
    'create database closed owner svc',
    'revoke connect on database closed from public',
    'create database fine owner svc',
    'create database foreign_one',
    'create database read_only',
    'alter database read_only set default_transaction_read_only = on',
    'create database lossy',
    'alter database lossy set synchronous_commit = off',
    "create database latin encoding 'LATIN1' locale 'C' template template0",
  )
  await sql('foreign_one', 'create table customers (id int)')
  silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
})
afterAll(() => {
  server.stop()
  silent.close()
  folder.remove()
})

const openError = async (url: string): Promise<SvcError> => {
  const opened = await openPostgres({ url, durable: true }).catch((error: SvcError) => error)
  if (opened instanceof Error) return opened
  await opened.close()
  throw new Error('it opened')
}
const at = (user: string, database: string): string => server.url(database).replace('svc@', `${user}@`)

// One of them waits for five seconds.
describe.concurrent('a database that cannot be used is an error with the next step', () => {
  test.each([
    ['nothing listens', () => 'postgres://svc@127.0.0.1:1/svc', 'database_unreachable', /pg_isready -h 127/],
    ['an unknown host', () => 'postgres://svc@db.invalid/svc', 'database_unreachable', /pg_isready/],
    ['no socket', () => 'postgres://svc@%2Fnowhere/svc', 'database_unreachable', /pg_isready/],
    [
      'nothing answers',
      () => `postgres://svc@127.0.0.1:${(silent.address() as AddressInfo).port}/svc`,
      'database_timeout',
      /firewall/,
    ],
    ['a wrong password', () => at('locked:wrong', 'fine'), 'database_login', /psql 'postgres:\/\/locked@127/],
    ['no password', () => at('locked', 'fine'), 'database_login', /postgres:\/\/svc:PASSWORD/],
    ['a refused user', () => at('nobody_else', 'fine'), 'database_login', /pg_hba\.conf/],
    ['no such database', () => server.url('missing'), 'no_database', /^createdb -h 127\.0\.0\.1 /],
    ['no right to create tables', () => at('poor', 'fine'), 'database_rights', /ALTER DATABASE "fine"/],
    [
      'no right to connect',
      () => at('weak', 'closed'),
      'database_rights',
      /GRANT CONNECT ON DATABASE "closed" TO "weak"$/,
    ],
    ['a read-only database', () => server.url('read_only'), 'database_read_only', /primary/],
    ['tables of another program', () => server.url('foreign_one'), 'foreign_store', /createdb svc/],
    ['no connection left', () => at('limited', 'fine'), 'database_connections', /max_connections/],
    ['another encoding', () => server.url('latin'), 'database_encoding', /--encoding UTF8/],
    ['asynchronous commits', () => server.url('lossy'), 'database_loses_data', /--allow-data-loss/],
    [
      'a certificate of an unknown authority',
      () => `${server.url('fine')}?sslmode=verify-full`,
      'database_tls',
      /sslrootcert=FILE/,
    ],
    [
      'a certificate for another host',
      () =>
        `${server.url('fine').replace('127.0.0.1', 'localhost')}?sslmode=verify-full&sslrootcert=${join(folder.path, 'cert.pem')}`,
      'database_tls',
      /host name of the certificate/,
    ],
  ])('%s', async (_, url, code, hint) => {
    const error = await openError(url())
    expect([error.code, error.hint]).toEqual([code, expect.stringMatching(hint)])
    expect(`${error.message}${error.hint}${error.detail}`).not.toContain('wrong')
  })
})

test('a damaged database and one of a newer svc are refused', async () => {
  await sql('postgres', 'create database damaged', 'create database newer', 'create database torn')
  for (const name of ['damaged', 'newer', 'torn'])
    await (await openPostgres({ url: server.url(name) })).close()
  await sql('damaged', 'drop table approvals cascade')
  await sql('newer', 'update schema_version set version = version + 1')
  await sql('torn', 'delete from schema_version')
  expect(await openError(server.url('damaged'))).toMatchObject({
    code: 'store_damaged',
    message: expect.stringContaining('approvals'),
  })
  expect(await openError(server.url('torn'))).toMatchObject({ code: 'store_damaged' })
  expect(await openError(server.url('newer'))).toMatchObject({
    code: 'store_too_new',
    hint: expect.stringMatching(
      /^Use the newer svc for this\..* already run continue\..* into an empty database$/,
    ),
  })
})

test('the connection is encrypted, and its certificate checked', async () => {
  const url = `${server.url('fine')}?sslmode=verify-full&sslrootcert=${join(folder.path, 'cert.pem')}`
  const storage = await openPostgres({ url, durable: true })
  expect(await storage.problem()).toBeUndefined()
  await storage.close()
})

describe('svc serve', () => {
  const serve = ['serve', '--port', '0', '-o', 'json']

  test('refuses flags that contradict each other, and a file that others can read', async () => {
    const url = `postgres://svc:${secret}@127.0.0.1:1/svc`
    const path = file('url', `${url}\n`)
    const both = await svc([...serve, '--data-dir', folder.path, '--database-url-file', path])
    expect([both.exit, both.stderr]).toEqual([2, expect.stringContaining('cannot be used together')])
    const typed = await svc([...serve, '--database-url-file', url])
    expect([typed.exit, typed.stderr]).toEqual([2, expect.stringContaining('and not the URL itself')])
    const open = await svc([...serve, '--database-url-file', path])
    expect([open.exit, open.stderr]).toEqual([2, expect.stringContaining(`chmod 600 '${path}'`)])
    chmodSync(path, 0o600)
    const keyless = await svc([...serve, '--database-url-file', path])
    expect([keyless.exit, keyless.stderr]).toEqual([2, expect.stringContaining('requires SVC_MASTER_KEY')])
    const needless = await svc([...serve, '--data-dir', folder.path, '--database-connections', '5'])
    expect([needless.exit, needless.stderr]).toEqual([2, expect.stringContaining('requires a database')])
    const few = await svc([...serve, '--database-url-file', path, '--database-connections', '1'])
    expect([few.exit, few.stderr]).toEqual([
      2,
      expect.stringContaining('must be a whole number from 2 to 9999'),
    ])
    for (const { stdout, stderr } of [both, typed, open, keyless, needless, few])
      expect(stdout + stderr).not.toContain(secret)
  })

  test('shows no password in its output, whatever fails', async () => {
    const urls = [
      `postgres://locked:${secret}x@127.0.0.1:${server.port}/fine`,
      `postgres://svc:${secret}@127.0.0.1:1/svc`,
      `postgres://svc:${secret}@127.0.0.1/svc?sslmode=require`,
      `postgres://svc:${secret}@127.0.0.1/a/b`,
      `http://svc:${secret}@127.0.0.1/svc`,
    ]
    for (const url of urls) {
      const { exit, stdout, stderr } = await svc(serve, { SVC_DATABASE_URL: url, SVC_MASTER_KEY: masterKey })
      expect(exit).toBeGreaterThan(0)
      expect(stderr).toContain('"hint":')
      expect(stdout + stderr).not.toContain(secret)
    }
  })

  test('runs on the database of the file, and names it without the password', async () => {
    await sql('postgres', 'create database served', 'grant create on database served to locked')
    await sql('served', 'grant all on schema public to locked')
    const path = file('served', `postgres://locked:${secret}@127.0.0.1:${server.port}/served\n`, 0o600)
    const child = startSvc([...serve, '--database-url-file', path, '--drain', '0'], {
      SVC_MASTER_KEY: masterKey,
    })
    const ended = outcome(child)
    await new Promise((resolve) =>
      child.stdout!.on('data', (text: string) => text.includes('"ready"') && resolve(0)),
    )
    const wrongKey = await svc(serve, {
      SVC_DATABASE_URL: `postgres://locked:${secret}@127.0.0.1:${server.port}/served`,
      SVC_MASTER_KEY: '22'.repeat(32),
    })
    expect([wrongKey.exit, wrongKey.stderr]).toEqual([1, expect.stringContaining('the same on each node')])
    child.kill('SIGTERM')
    const { exit, stdout, stderr } = await ended
    expect([exit, stdout]).toEqual([
      0,
      expect.stringContaining(`"database":"postgres://locked@127.0.0.1:${server.port}/served"`),
    ])
    expect(stdout + stderr).not.toContain(secret)
  })
})
