import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { openConnection } from '../../src/service/storage/sqlite/connection.ts'
import { createGroupCommit } from '../../src/service/storage/sqlite/group-commit.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// The minimum for a durable write over HTTP: one route, one insert, and the group commit of the service; and for a wait that the
// write ends.
const { path: dir, remove } = temporaryFolder()
const connection = openConnection(join(dir, 'bare.db'))
connection.exec('CREATE TABLE row (id INTEGER PRIMARY KEY, name TEXT NOT NULL)')
const insert = connection.prepare('INSERT INTO row (name) VALUES (?) RETURNING id')
const commits = createGroupCommit(connection)
const app = new Hono()
app.post('/row', async (context) => {
  const { name } = await context.req.json<{ name: string }>()
  const [row] = await commits.run(async () => insert.all([name]))
  return context.json({ status: 'success', message: 'Row', data: row })
})
const waiting = new Map<string, (() => void)[]>()
app.get('/wait/:id', async (context) => {
  const id = context.req.param('id')
  await new Promise<void>((resolve) => {
    const all = waiting.get(id) ?? []
    all.push(resolve)
    waiting.set(id, all)
  })
  return context.json({ status: 'success', message: 'Row' })
})
app.post('/end/:id', async (context) => {
  const { name } = await context.req.json<{ name: string }>()
  const [row] = await commits.run(async () => insert.all([name]))
  for (const wake of waiting.get(context.req.param('id')) ?? []) wake()
  waiting.delete(context.req.param('id'))
  return context.json({ status: 'success', message: 'Row', data: row })
})
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  process.stdout.write(`${JSON.stringify({ event: 'ready', port })}\n`),
)
process.once('SIGTERM', () => {
  server.close()
  connection.close()
  remove()
  process.exit()
})
