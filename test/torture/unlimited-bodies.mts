import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { table } from '../../src/contract/table.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { readBody } from '../../src/service/http/body.ts'
import { routeOf } from '../../src/service/http/routes.ts'

// The negative control of bodies.ts: the open routes with 1 MiB for each body and any number of values.
const app = new Hono()
for (const operation of Object.values(table) as Operation[]) {
  if (!operation.open) continue
  const { method, path } = routeOf(operation)
  app.on(method, path, async (context) => {
    const body = await readBody(context, { kib: 1024, values: Infinity })
    return context.json({ status: operation.input.safeParse(body).success })
  })
}
app.onError((_, context) => context.text('', 400))
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  process.stdout.write(`${JSON.stringify({ base_url: `http://127.0.0.1:${port}/` })}\n`),
)
