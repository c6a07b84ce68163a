import { Pool } from 'undici'

// The noise of noisy-tenant.ts and noisy-neighbour.ts, in its own process so that it takes no time from the measurement: checks
// locations, or with `approvers` requests approvals, without a pause until SIGTERM. Then prints how often each status was returned.
const { origin, org, connections, approvers } = JSON.parse(process.argv[2]!) as {
  origin: string
  org: number
  connections: number
  approvers?: string[]
}
const pool = new Pool(origin, { connections })
const headers = { 'x-api-key': process.env['SVC_API_KEY']!, 'content-type': 'application/json' }
const answered: Record<string, number> = {}
const stopping = new AbortController()
process.on('SIGTERM', () => stopping.abort())

const degrees = (most: number): string => (Math.random() * 2 * most - most).toFixed(4)
const place = (): string => `latitude=${degrees(85)}&longitude=${degrees(175)}`

const send = () =>
  approvers === undefined
    ? pool.request({
        path: `/svc/v1/organizations/${org}/geofence-check?${place()}`,
        method: 'GET',
        headers,
      })
    : pool.request({
        path: '/svc/v1/approvals',
        method: 'POST',
        headers,
        body: JSON.stringify({ action: `Deploy ${Math.random()}`, approvers }),
      })

const check = async (): Promise<void> => {
  while (!stopping.signal.aborted) {
    const { statusCode, body } = await send()
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
