import { Pool } from 'undici'
import { median } from './figures.ts'

// A load generator in its own process. Its argument is JSON of `StoresLoad`; SVC_API_KEY is the key. Each client uses one node, and the organizations in turn. The first `warmUp` seconds do not count.
// Each read has another cursor, so that none is answered from a cache. Prints {"perSecond", "requests", "failed", "p50"}.
export type StoresLoad = {
  nodes: string[]
  organizations: number[]
  clients: number
  seconds: number
  warmUp: number
  write: boolean
}

const { nodes, organizations, clients, seconds, warmUp, write } = JSON.parse(process.argv[2]!) as StoresLoad
const headers = { 'x-api-key': process.env['SVC_API_KEY'] ?? '', 'content-type': 'application/json' }
const times: number[] = []
let failed = 0
let serial = 0

const cursor = (turn: number): string => Buffer.from(`after:${turn}`).toString('base64url')

const counting = performance.now() + warmUp * 1000

const until = async (end: number, client: number): Promise<void> => {
  const { origin, pathname } = new URL(nodes[client % nodes.length]!)
  const pool = new Pool(origin, { connections: 1 })
  while (performance.now() < end) {
    const turn = serial++
    const org = organizations[turn % organizations.length]!
    const name = `${process.pid} ${turn}`
    const fence = { name, latitude: 47.6, longitude: -122.3, radius: 100, is_active: 1 }
    const began = performance.now()
    const { statusCode, body } = await pool.request({
      path: write
        ? `${pathname}/organization/${org}/create/geo-fence`
        : `${pathname}/organization/${org}/geo-fences?limit=10&cursor=${cursor(turn)}`,
      method: write ? 'POST' : 'GET',
      headers,
      body: write ? JSON.stringify(fence) : null,
    })
    await body.dump()
    if (statusCode >= 300) failed += 1
    else if (began > counting) times.push(performance.now() - began)
  }
  await pool.close()
}

await Promise.all(Array.from({ length: clients }, (_, client) => until(counting + seconds * 1000, client)))
const perSecond = times.length / ((performance.now() - counting) / 1000)
process.stdout.write(`${JSON.stringify({ perSecond, requests: times.length, failed, p50: median(times) })}\n`)
