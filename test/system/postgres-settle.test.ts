import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { remote } from '../e2e/person.ts'
import { type Ended, svc } from '../e2e/processes.ts'
import { type PostgresServer, startPostgres } from '../service/storage/postgres-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { masterKey, type Node, operator, startNode } from './nodes.ts'

// A database that PostgreSQL has restored to an earlier time: its messages were sent and its codes used since.

const folder = temporaryFolder()
const mobile = '+12025550101'
let server: PostgresServer
let node: Node

const sql = async (text: string): Promise<void> => {
  const client = new pg.Client({ connectionString: server.url('postgres') })
  await client.connect()
  await client.query(text)
  await client.end()
}
const settle = (line: string): Promise<Ended> =>
  svc(`service settle ${line}`, {
    SVC_DATABASE_URL: server.url('postgres'),
    SVC_MASTER_KEY: masterKey,
    SVC_CONFIG_DIR: folder.path,
  })
const post = (path: string, body: unknown) =>
  remote(`${node.origin}/admin/public/api`, operator).call('POST', path, { body })
const codes = (): string[] => [...node.log().matchAll(/Your code is (\d{6})/g)].map(([, code]) => code!)

beforeAll(async () => {
  server = await startPostgres({ durable: true })
  node = await startNode(server.url('postgres'), ['--drain', '0'])
})
afterAll(async () => {
  await node.stop('SIGKILL')
  server.stop()
  folder.remove()
})

test('a settled database sends no old message and accepts no old code', async () => {
  const person = { country_code: '+1', mobile: '2025550101', first_name: 'Ada', last_name: 'L' }
  await post('/wp/register/mobile/user', person)
  await post('/wp/send/sms', { mobile })
  await expect.poll(codes).toHaveLength(1)
  const [otp] = codes()

  const running = await settle('--yes')
  expect([running.exit, running.stderr]).toEqual([1, expect.stringContaining('Nodes use this database')])
  expect(await node.stop()).toBe(0)
  await sql("update outbox set state = 'queued', attempts = 0")
  const planned = await settle('--dry-run -o json')
  expect([planned.exit, JSON.parse(planned.stdout)]).toMatchObject([0, { database: server.url('postgres') }])
  const unasked = await settle('')
  expect([unasked.exit, unasked.stderr]).toEqual([2, expect.stringContaining('--yes')])
  expect((await settle('--yes')).exit).toBe(0)

  node = await startNode(server.url('postgres'), ['--drain', '0'])
  expect((await post('/wp/confirm/register', { mobile, otp })).status).toBe(403)
  const outbox = await remote(`${node.origin}/admin/public/api`, operator).call('GET', '/svc/v1/outbox')
  expect(outbox.body.data).toMatchObject([{ state: 'dead' }])
  expect(codes()).toEqual([])
})
