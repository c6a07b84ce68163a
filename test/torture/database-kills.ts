import { setTimeout as pause } from 'node:timers/promises'
import { startPostgres } from '../service/storage/postgres-server.ts'
import { type Cluster, startCluster, stopServer } from './cluster.ts'
import { enrollMobiles, request } from './enrolled-approver.ts'
import { createLedger } from './ledger.ts'
import { call, must } from './requests.ts'
import type { Result, Torture } from './torture.ts'
import { openWait, waitsOpen } from './waits.ts'
import { startWriters } from './writers.ts'

const kills = 40
const waitsAtOnce = 8

/** Cancels until the database is there again; a repeated cancel of an ended request is refused with 409. */
const withdraw = async ({ nodes, key }: Cluster, request_id: string): Promise<void> => {
  for (;;) {
    const reply = await call(nodes[0]!.baseUrl, 'withdrawApproval', key, { request_id }).catch(
      () => undefined,
    )
    if (reply && reply.status < 500) return
    await pause(100)
  }
}

export const torture: Torture = {
  name: 'kill -9 of PostgreSQL while clients write and wait, two nodes',
  must: '0 acknowledged writes lost, 0 untrue answers, every wait answered',
  run: async (): Promise<Result> => {
    const server = await startPostgres({ durable: true })
    const cluster = await startCluster(server, {
      count: 2,
      durable: true,
      args: ['--metrics-port', '0'],
    })
    try {
      const { baseUrl } = cluster.nodes[0]!
      const { id: org } = await must(call(baseUrl, 'createOrganization', cluster.key, { name: 'Acme' }))
      const mobiles = await enrollMobiles(baseUrl, cluster.key, org, (kills * waitsAtOnce) / 4)
      const ledger = createLedger()
      const stopWriters = startWriters(cluster, [org], ledger)
      const wrong: string[] = []
      let waits = 0
      for (let round = 0; round < kills; round++) {
        const approvals = await Promise.all(
          Array.from({ length: waitsAtOnce }, async (_, n) => {
            const approvers = [mobiles[(round * waitsAtOnce + n) % mobiles.length]]
            const { request_id } = await request(baseUrl, 'createApproval', cluster.key, {
              action: 'x',
              approvers,
            })
            return { request_id, waiting: openWait(cluster.nodes[n % 2]!.baseUrl, cluster.key, request_id) }
          }),
        )
        // A wait does not begin during an outage: the key of the caller cannot be checked then.
        await waitsOpen(cluster.nodes, waitsAtOnce)
        await pause(100 + ((round * 37) % 400))
        await server.crash(round % 2 === 0 ? 'SIGKILL' : 'SIGQUIT')
        await server.restart()
        for (const { request_id, waiting } of approvals) {
          await withdraw(cluster, request_id)
          const { status, text } = await waiting
          if (status === 'expired') waits++
          else wrong.push(`a wait ended with ${status}: ${text}`)
        }
      }
      await stopWriters()
      const { sent, lost, untrue, naive } = await ledger.judge(cluster)
      wrong.push(...lost, ...untrue, ...(await cluster.brokenChains([org])))
      const { count } = ledger
      return {
        count: sent,
        failures: wrong.length,
        hits: {
          kills,
          acknowledged: count('done'),
          refused: count('nothing changed'),
          'outcome unknown': count('unknown'),
          'waits that outlived a kill': waits,
        },
        // One broken client takes each send for a success, the other each 503 for a failure.
        control: naive,
        examples: wrong.slice(0, 5),
      }
    } finally {
      await cluster.stop()
      await stopServer(server)
    }
  },
}
