import { Pool } from 'undici'

// The noise of noisy-tenant.ts, in its own process so that it takes no time from the measurement: checks locations without
// a pause until SIGTERM, then prints how often each status was returned.
const { origin, org, connections } = JSON.parse(process.argv[2]!) as {
  origin: string
  org: number
  connections: number
}
const pool = new Pool(origin, { connections })
const headers = { 'x-api-key': process.env['SVC_API_KEY']! }
const answered: Record<string, number> = {}
const stopping = new AbortController()
process.on('SIGTERM', () => stopping.abort())

const degrees = (most: number): string => (Math.random() * 2 * most - most).toFixed(4)

const check = async (): Promise<void> => {
  while (!stopping.signal.aborted) {
    const path = `/svc/v1/organizations/${org}/geofence-check?latitude=${degrees(85)}&longitude=${degrees(175)}`
    const { statusCode, body } = await pool.request({ path, method: 'GET', headers })
    await body.dump()
    answered[statusCode] = (answered[statusCode] ?? 0) + 1
    if (statusCode === 429 && answered[429] === 1) process.stdout.write('{"event":"limited"}\n')
  }
}
const all = Promise.all(Array.from({ length: connections }, check))
process.stdout.write('{"event":"ready"}\n')
await all
await pool.close()
process.stdout.write(`${JSON.stringify(answered)}\n`)
