import { serve } from '@hono/node-server'
import { Hono } from 'hono'

// The minimum for the same server library: one route, one small JSON response.
const app = new Hono()
app.get('/echo', (context) =>
  context.json({ status: 'success', message: 'Organization', data: { id: 1, name: 'Acme' } }),
)
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  process.stdout.write(`${JSON.stringify({ event: 'ready', port })}\n`),
)
