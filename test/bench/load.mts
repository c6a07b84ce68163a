import { Pool } from 'undici'

// A load generator in a process of its own. Told on argv: JSON of {url, clients, seconds, write}; the key is in
// SVC_API_KEY. Says {"perSecond", "failed"}.
const { url, clients, seconds, write } = JSON.parse(process.argv[2]!) as {
  url: string
  clients: number
  seconds: number
  write?: boolean
}
const { origin, pathname } = new URL(url)
const pool = new Pool(origin, { connections: clients })
const headers = { 'x-api-key': process.env['SVC_API_KEY'] ?? '', 'content-type': 'application/json' }
let done = 0
let failed = 0
let serial = 0

const until = async (end: number): Promise<void> => {
  while (performance.now() < end) {
    const { statusCode, body } = await pool.request({
      path: pathname,
      method: write ? 'POST' : 'GET',
      headers,
      body: write ? JSON.stringify({ name: `Bench ${process.pid} ${serial++}` }) : null,
    })
    await body.dump()
    if (statusCode < 300) done += 1
    else failed += 1
  }
}

const everyClient = (end: number) => Promise.all(Array.from({ length: clients }, () => until(end)))
await everyClient(performance.now() + 1000)
done = 0
failed = 0
const began = performance.now()
await everyClient(began + seconds * 1000)
process.stdout.write(
  `${JSON.stringify({ perSecond: done / ((performance.now() - began) / 1000), failed })}\n`,
)
await pool.close()
