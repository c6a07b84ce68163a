import { Pool } from 'undici'

// A load generator in its own process. Its argument is JSON of {url, clients, seconds, write}; SVC_API_KEY is the key. Prints
// {"perSecond", "requests", "failed"}; the rate leaves out the time in which its own code is still compiled.
const { url, clients, seconds, write } = JSON.parse(process.argv[2]!) as {
  url: string
  clients: number
  seconds: number
  write?: boolean
}
const { origin, pathname } = new URL(url)
const pool = new Pool(origin, { connections: clients })
const headers = { 'x-api-key': process.env['SVC_API_KEY'] ?? '', 'content-type': 'application/json' }
const warmUpMs = 500
let done = 0
let counted = 0
let failed = 0
let serial = 0

const counting = performance.now() + warmUpMs

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
    if (performance.now() > counting) counted += 1
  }
}

// Waking a sleeping client costs the server time, and a fast server rarely finds it asleep. So it never sleeps while it reads.
let spinning = true
const spin = (): void => void (spinning && setImmediate(spin))
if (!write) spin()

await Promise.all(Array.from({ length: clients }, () => until(counting + seconds * 1000)))
spinning = false
const perSecond = counted / ((performance.now() - counting) / 1000)
process.stdout.write(`${JSON.stringify({ perSecond, requests: done, failed })}\n`)
await pool.close()
