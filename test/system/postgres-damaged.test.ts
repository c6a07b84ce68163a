import { closeSync, openSync, writeSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../service/storage/postgres-server.ts'
import { type Node, operator, startNode } from './nodes.ts'

let server: PostgresServer
let node: Node

beforeAll(async () => {
  server = await startPostgres({ durable: true })
  const client = new pg.Client({ connectionString: server.url('postgres') })
  await client.connect()
  await client.query('create database svc')
  await client.end()
  node = await startNode(server.url('svc'), ['--drain', '0'])
})
afterAll(async () => {
  await node?.stop('SIGKILL')
  server?.stop()
})

const call = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(node.origin + path, {
    ...init,
    headers: { 'x-api-key': operator, 'content-type': 'application/json' },
  })
  return [answer.status, await answer.json()] as const
}

test('a page of the database that is damaged is store_damaged, and the node is not ready', async () => {
  const body = JSON.stringify({ name: 'Acme' })
  expect((await call('/admin/public/api/organization/create', { method: 'POST', body }))[0]).toBe(200)
  const client = new pg.Client({ connectionString: server.url('svc') })
  await client.connect()
  // So that the server does not write the page again after its crash.
  await client.query('checkpoint')
  const { rows } = await client.query<{ file: string }>(
    `select current_setting('data_directory') || '/' || pg_relation_filepath('organizations') as file`,
  )
  await client.end()
  await server.crash('SIGQUIT')
  const file = openSync(rows[0]!.file, 'r+')
  writeSync(file, Buffer.alloc(200, 0xaa), 0, 200, 0)
  closeSync(file)
  await server.restart()
  const code = async () =>
    ((await call('/admin/public/api/organizations'))[1] as { data: { code?: string } }).data.code
  await expect.poll(code).toBe('store_damaged')
  expect(await call('/health/ready')).toEqual([503, { ok: false, reason: 'store_damaged' }])
})
