import { readFileSync } from 'node:fs'
import { Pool } from 'undici'

// A load generator that sends the POSTs of an import. Its argument is JSON of {url, clients, file}; `file` has one body per
// line, and SVC_API_KEY is the key. Prints {"perSecond", "requests", "failed"}.
const { url, clients, file } = JSON.parse(process.argv[2]!) as { url: string; clients: number; file: string }
const bodies = readFileSync(file, 'utf8').trimEnd().split('\n')
const { origin, pathname } = new URL(url)
const pool = new Pool(origin, { connections: clients })
const headers = { 'x-api-key': process.env['SVC_API_KEY'] ?? '', 'content-type': 'application/json' }
let next = 0
let failed = 0

const work = async (): Promise<void> => {
  for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
    const key = crypto.randomUUID()
    const { statusCode, body: answer } = await pool.request({
      path: pathname,
      method: 'POST',
      headers: { ...headers, 'idempotency-key': key },
      body,
    })
    await answer.dump()
    if (statusCode >= 300) failed += 1
  }
}

const began = performance.now()
await Promise.all(Array.from({ length: clients }, work))
const perSecond = bodies.length / ((performance.now() - began) / 1000)
process.stdout.write(`${JSON.stringify({ perSecond, requests: bodies.length, failed })}\n`)
await pool.close()
