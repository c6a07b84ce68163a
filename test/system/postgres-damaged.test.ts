import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../service/storage/postgres-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Node, operator, startNode } from './nodes.ts'
import { typeRunbook } from './runbook.ts'

const folder = temporaryFolder()
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
  folder.remove()
})

const call = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(node.origin + path, {
    ...init,
    headers: { 'x-api-key': operator, 'content-type': 'application/json' },
  })
  return [answer.status, (await answer.json()) as { data?: unknown }] as const
}

/** Overwrites the first page of a table or an index. */
const damage = async (relation: string): Promise<void> => {
  const client = new pg.Client({ connectionString: server.url('svc') })
  await client.connect()
  // So that the server does not write the page again after its crash.
  await client.query('checkpoint')
  const { rows } = await client.query<{ file: string }>(
    `select current_setting('data_directory') || '/' || pg_relation_filepath('${relation}') as file`,
  )
  await client.end()
  await server.crash('SIGQUIT')
  const file = openSync(rows[0]!.file, 'r+')
  writeSync(file, Buffer.alloc(200, 0xaa), 0, 200, 0)
  closeSync(file)
  await server.restart()
}
const create = async (slug: string) => {
  const body = JSON.stringify({ name: slug, slug })
  const [status, { data }] = await call('/admin/public/api/organization/create', { method: 'POST', body })
  return [status, (data as { code?: string }).code]
}
const reindex = (): Promise<string> => {
  writeFileSync(join(folder.path, 'database.url'), server.url('svc'))
  return typeRunbook('REINDEX', { places: {}, cwd: folder.path })
}

test('an index of the database that is damaged is store_damaged, until the runbook was followed', async () => {
  expect(await create('acme')).toEqual([200, undefined])
  await damage('organizations_slug')
  await expect.poll(() => create('other')).toEqual([503, 'store_damaged'])
  await expect.poll(node.log).toContain('"The store is damaged: invalid page')
  expect(await reindex()).toBe('REINDEX\n')
  expect(await call('/health/ready')).toEqual([503, { ok: false, reason: 'store_damaged' }])
  await node.stop()
  node = await startNode(server.url('svc'), ['--drain', '0'])
  expect(await create('other')).toEqual([200, undefined])
})

test('a page of the database that is damaged is store_damaged, and the node is not ready', async () => {
  await damage('organizations')
  const code = async () =>
    ((await call('/admin/public/api/organizations'))[1] as { data: { code?: string } }).data.code
  await expect.poll(code).toBe('store_damaged')
  expect(await reindex()).toContain('ERROR')
  expect(await call('/health/ready')).toEqual([503, { ok: false, reason: 'store_damaged' }])
})
