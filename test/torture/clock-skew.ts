import { fileURLToPath } from 'node:url'
import { startPostgres, type PostgresServer } from '../service/storage/postgres-server.ts'
import { startCluster, stopServer } from './cluster.ts'
import { enrollApprover, request } from './enrolled-approver.ts'
import { call, exampleInput, must } from './requests.ts'
import type { Result, Torture } from './torture.ts'
import { createVariant } from './variant.ts'
import { openWait } from './waits.ts'

const minuteMs = 60_000
const shifts = [0, 11 * minuteMs, -11 * minuteMs, 60 * minuteMs, -60 * minuteMs]
const lifetimeS = 3
const requestsOfNode = 20
const requestsOfControl = 4
const toleranceMs = 1_000

const preload = fileURLToPath(new URL('clock-shift.cjs', import.meta.url))

const run = async (server: PostgresServer, times: number, program?: readonly string[]) => {
  const cluster = await startCluster(server, { count: 0, ...(program && { program }) })
  const wrong: string[] = []
  const hits: Record<string, number> = {}
  try {
    for (const shift of shifts) {
      const env = { NODE_OPTIONS: `--require=${preload}`, CLOCK_SHIFT_MS: String(shift) }
      cluster.nodes.push(await cluster.start({ env }))
    }
    const { key, nodes } = cluster
    const { baseUrl } = nodes[0]!
    const { id: org } = await must(call(baseUrl, 'createOrganization', key, { name: 'Acme' }))
    const expire = async (at: number): Promise<void> => {
      const { mobile } = await enrollApprover(baseUrl, key, org)
      const input = { action: 'x', approvers: [mobile], lifetime_s: lifetimeS }
      const { request_id, requested_at, expires_at } = await request(
        nodes[at]!.baseUrl,
        'createApproval',
        key,
        input,
      )
      // The database runs on this machine, so its clock is that of this process.
      const created = Math.abs(Date.parse(requested_at) - Date.now())
      if (created > toleranceMs) wrong.push(`requested ${created} ms from now at node ${at}`)
      const seen = nodes.map(async (node, n) => {
        const { status } = await openWait(node.baseUrl, key, request_id, 20)
        const early = Date.parse(expires_at) - Date.now()
        if (status !== 'expired' || early > 0)
          wrong.push(`${status} ${early} ms before its expiry, asked at ${at}, seen at ${n}`)
      })
      await Promise.all(seen)
      const ends = await cluster.query<{ at: string }>(
        "select at from audit where action = 'expireApproval' and subject like '%' || $1",
        [request_id],
      )
      const late = Date.parse(ends[0]?.at ?? '') - Date.parse(expires_at)
      if (!(late <= toleranceMs)) wrong.push(`expired ${late} ms late, asked at ${at}`)
      hits.expiries = (hits.expiries ?? 0) + nodes.length
    }
    for (let n = 0; n < times; n++) {
      const failed = (error: Error): void => void wrong.push(error.message)
      await Promise.all(nodes.map((_, at) => expire(at).catch(failed)))
      // Writes of all nodes, so that their times would not be in order.
      await Promise.all(
        nodes.map((node, at) =>
          must(
            call(node.baseUrl, 'createGeofence', key, {
              ...exampleInput('createGeofence'),
              org_id: org,
              name: `${n} ${at}`,
            }),
          ),
        ),
      )
    }
    const rows = await cluster.query<{ at: string; seq: string }>(
      'select at, seq from audit where org_id = $1 order by seq',
      [org],
    )
    for (const [n, row] of rows.entries()) {
      if (n > 0 && row.at < rows[n - 1]!.at) wrong.push(`audit row ${row.seq} is before the one before`)
      if (Date.parse(row.at) > Date.now() + toleranceMs) wrong.push(`audit row ${row.seq} is in the future`)
    }
    hits['audit rows in order'] = rows.length
    wrong.push(...(await cluster.brokenChains([org])))
    return { count: (hits.expiries ?? 0) + rows.length, wrong, hits }
  } finally {
    await cluster.stop()
  }
}

export const torture: Torture = {
  name: 'Five nodes whose clocks are up to one hour off',
  must: '0 requests that expire a second early or late, every chain in the order of time',
  run: async (): Promise<Result> => {
    const server = await startPostgres()
    // The broken variant uses the clock of its process.
    const variant = createVariant([
      {
        file: 'service/storage/postgres/clock.ts',
        from: 'now: (): string => new Date(offset + monotonic()).toISOString()',
        to: 'now: (): string => new Date().toISOString()',
      },
    ])
    try {
      const real = await run(server, requestsOfNode, undefined)
      const broken = await run(server, requestsOfControl, variant.program)
      return {
        count: real.count,
        failures: real.wrong.length,
        hits: real.hits,
        control: broken.wrong.length,
        examples: real.wrong.slice(0, 5),
      }
    } finally {
      variant.remove()
      await stopServer(server)
    }
  },
}
