import type { ClientBase } from 'pg'
import { expect, test } from 'vitest'
import { checkServer } from '../../../../src/service/storage/postgres/check-server.ts'
import { dataLoss, riskOf, type Facts } from '../../../../src/service/storage/postgres/facts.ts'
import { asDatabaseProblem } from '../../../../src/service/storage/postgres/problems.ts'
import { readDatabaseUrl } from '../../../../src/service/storage/postgres/database-url.ts'

const good: Facts = {
  version: 150004,
  version_text: '15.4',
  role: 'svc',
  standby: false,
  encoding: 'UTF8',
  fsync: true,
  synchronous_commit: 'on',
  standby_names: '',
  standbys: 0,
  synchronous_standbys: 0,
  schema: 'public',
  may_create: true,
  max_connections: 100,
  used_connections: 1,
  tls: true,
  time: 0,
  archived_at: null,
  lag_bytes: null,
  between: null,
}

/** A server that answers the one query. */
const serverWith = (facts: Partial<Facts>): ClientBase =>
  ({ query: async () => ({ rows: [{ ...good, ...facts }] }) }) as unknown as ClientBase

test.each<[Partial<Facts>, string]>([
  [{ version: 120017, version_text: '12.17' }, 'database_too_old'],
  [{ standby: true }, 'database_read_only'],
  [{ encoding: 'SQL_ASCII' }, 'database_encoding'],
  [{ schema: null }, 'database_rights'],
  [{ fsync: false }, 'database_loses_data'],
  [{ between: 'trigger x on audit' }, 'database_altered'],
])('refuses a server with %o', async (facts, code) => {
  await expect(checkServer(serverWith(facts), { durable: true })).rejects.toMatchObject({ code })
})

test('says what a single database or an accepted one could lose', () => {
  expect(riskOf(good)).toContain('no standby is connected')
  expect(riskOf({ ...good, fsync: false })).toContain('fsync is off')
  const synchronous = { standbys: 1, standby_names: 'ANY 1 (*)', synchronous_standbys: 1 }
  expect(riskOf({ ...good, ...synchronous })).toBeUndefined()
})

test('accepts a server that can lose data only if that was accepted', async () => {
  expect(await checkServer(serverWith({ fsync: false }), { durable: false })).toMatchObject({ fsync: false })
})

test.each<[Partial<Facts>, RegExp | undefined]>([
  [{}, undefined],
  [{ standbys: 1, standby_names: 'ANY 1 (*)', synchronous_standbys: 1 }, undefined],
  [{ synchronous_commit: 'local' }, undefined],
  [{ synchronous_commit: 'remote_apply', standbys: 1, standby_names: '*' }, undefined],
  [{ synchronous_commit: 'off' }, /a crash loses writes/],
  [{ synchronous_commit: 'local', standbys: 1, standby_names: '*' }, /a failover loses writes/],
  [{ standbys: 2 }, /the 2 standbys is asynchronous/],
])('finds in %o a loss of data: %s', (facts, reason) => {
  const loss = dataLoss({ ...good, ...facts })
  expect(loss?.reason ?? '').toMatch(reason ?? /^$/)
})

const solution = (synchronous_standbys: number | null) =>
  dataLoss({ ...good, standbys: 1, synchronous_standbys })?.solution

test('says that a backup may look like a standby only if this user cannot tell', () => {
  expect(solution(0)).not.toContain('pg_monitor')
  expect(solution(null)).toContain('pg_monitor')
})

test('says what to do about a full disk', () => {
  const server = readDatabaseUrl('postgres://svc:secret@127.0.0.1/svc')
  const error = Object.assign(new Error('could not extend file'), { code: '53100' })
  expect(asDatabaseProblem(server, error)).toMatchObject({
    code: 'database_disk_full',
    message: 'The disk of the database at 127.0.0.1:5432 is full',
  })
})
