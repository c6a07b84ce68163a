import { expect, test } from 'vitest'
import { readDatabaseUrl } from '../../../../src/service/storage/postgres/database-url.ts'

const secret = 'pa55word'

test('reads user, password, host, port and database, and shows no password', () => {
  expect(readDatabaseUrl('postgres://svc:p%40ss%2F@127.0.0.1:5433/approvals\n')).toEqual({
    host: '127.0.0.1',
    port: 5433,
    user: 'svc',
    password: 'p@ss/',
    database: 'approvals',
    ssl: false,
    name: 'postgres://svc@127.0.0.1:5433/approvals',
  })
})

test.each([
  ['postgres://svc@db.example.com/svc', 'db.example.com', 5432, true],
  ['postgresql://svc@db.example.com/svc?sslmode=verify-full', 'db.example.com', 5432, true],
  ['postgres://svc@localhost/svc', 'localhost', 5432, false],
  ['postgres://svc@localhost/svc?sslmode=verify-full', 'localhost', 5432, true],
  ['postgres://svc@[::1]:6000/svc', '::1', 6000, false],
  ['postgres://svc@%2Frun%2Fpostgresql/svc', '/run/postgresql', 5432, false],
  ['postgres://svc@localhost/svc?host=/run/postgresql', '/run/postgresql', 5432, false],
])('%s is %s, port %i, with TLS: %s', (url, host, port, tls) => {
  const server = readDatabaseUrl(url)
  expect([server.host, server.port, server.ssl !== false]).toEqual([host, port, tls])
})

test.each([
  [`svc:${secret}`, 'is not a URL (not shown'],
  [`mysql://svc:${secret}@db/svc`, 'must start with postgres://, not mysql://'],
  [`postgres://svc:${secret}@/svc`, 'is not a valid URL (not shown'],
  [`postgres:///svc`, 'names no host: postgres:///svc'],
  [`postgres://svc:${secret}@db.example.com`, 'names no database: postgres://svc@db.example.com'],
  [`postgres://svc:${secret}@db.example.com/`, 'names no database: postgres://svc@db.example.com/'],
  [`postgres://svc:${secret}@a,b/svc`, 'names several hosts: a,b'],
  [`postgres://svc:12/${secret}@db/svc`, 'is not a valid URL (not shown'],
  [`postgres://svc:12#${secret}@db/svc`, 'is not a valid URL (not shown'],
  [`postgres://svc:12?${secret}@db/svc`, 'is not a valid URL (not shown'],
  [`postgres://svc:%${secret}@db/svc`, 'contains a % that does not encode a character'],
  [`postgres://svc@db/svc?password=${secret}`, 'must not contain the parameter password'],
  [`postgres://svc:${secret}@db/svc?pool=5`, 'contains an unknown parameter: pool'],
  [
    `postgres://svc:${secret}@db/svc?sslmode=require`,
    'sslmode=require does not verify the certificate of db',
  ],
  [
    `postgres://svc:${secret}@db/svc?sslmode=disable`,
    'sslmode=disable does not verify the certificate of db',
  ],
  [`postgres://svc:${secret}@db/svc?sslrootcert=/nowhere/ca.pem`, 'sslrootcert=/nowhere/ca.pem'],
])('refuses %s', (url, message) => {
  let thrown: unknown
  try {
    readDatabaseUrl(url)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toMatchObject({ exit: 'usage', message: expect.stringContaining(message) })
  expect((thrown as Error).message).toContain('SVC_DATABASE_URL')
  const { message: text, hint, detail } = thrown as { message: string; hint: string; detail?: string }
  expect([text, hint, detail].join('\n')).not.toContain(secret)
})
