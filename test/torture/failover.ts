import { setTimeout as pause } from 'node:timers/promises'
import { startPostgres } from '../service/storage/postgres-server.ts'
import { startProxy } from '../service/storage/postgres/cut-connections.ts'
import { startCluster, stopServer } from './cluster.ts'
import { createLedger } from './ledger.ts'
import { call, must } from './requests.ts'
import { query, startStandby } from './standby.ts'
import type { Result, Torture } from './torture.ts'
import { startWriters } from './writers.ts'

const failovers = 5
const beforeMs = 1_500
/** How long the standby gets nothing before the primary is killed. */
const cutOffMs = 400
const afterMs = 2_000

/** Kills a primary under load after its standby was cut off, and goes on with the standby. */
const failOver = async ({ synchronous }: { synchronous: boolean }) => {
  const primary = await startPostgres({ durable: true })
  const link = await startProxy(primary.url('postgres'))
  const standby = await startStandby(link.url)
  const gate = await startProxy(primary.url('postgres'))
  if (synchronous) {
    await query(primary, "alter system set synchronous_standby_names = '*'")
    await query(primary, 'select pg_reload_conf()')
  }
  const isReplicating = `select 1 from pg_stat_replication where sync_state = '${synchronous ? 'sync' : 'async'}'`
  while ((await query(primary, isReplicating)).length === 0) await pause(50)
  const cluster = await startCluster(primary, { count: 2, through: gate.url, durable: synchronous })
  const ledger = createLedger()
  const { nodes, key } = cluster
  try {
    const { id: org } = await must(call(nodes[0]!.baseUrl, 'createOrganization', key, { name: 'Acme' }))
    const stopWriters = startWriters(cluster, [org], ledger)
    await pause(beforeMs)
    link.close()
    await pause(cutOffMs)
    gate.close()
    await primary.crash('SIGKILL')
    const before = ledger.count('done')
    await query(standby, 'select pg_promote()')
    gate.pointAt(standby.url('postgres'))
    gate.open()
    await pause(afterMs)
    await stopWriters()
    const { sent, lost, untrue } = await ledger.judge(cluster)
    const chains = await cluster.brokenChains([org])
    const after = ledger.count('done') - before
    return { sent, lost, wrong: [...lost, ...untrue, ...chains], ledger, before, after }
  } finally {
    await cluster.stop()
    gate.stop()
    link.stop()
    await stopServer(standby)
    await stopServer(primary)
  }
}

export const torture: Torture = {
  name: 'Failover to a synchronous standby that was cut off before the primary is killed',
  must: '0 acknowledged writes lost, 0 untrue answers',
  run: async (): Promise<Result> => {
    const hits: Record<string, number> = { failovers }
    const add = (what: string, count: number): void => void (hits[what] = (hits[what] ?? 0) + count)
    const wrong: string[] = []
    let count = 0
    for (let n = 0; n < failovers; n++) {
      const one = await failOver({ synchronous: true })
      count += one.sent
      wrong.push(...one.wrong)
      add('acknowledged before', one.before)
      add('acknowledged after', one.after)
      add('outcome unknown', one.ledger.count('unknown'))
      add('refused', one.ledger.count('nothing changed'))
      if (one.after === 0) wrong.push('nothing was written after a failover')
    }
    // With asynchronous replication the standby lacks what it was cut off from.
    const { lost } = await failOver({ synchronous: false })
    return { count, failures: wrong.length, hits, control: lost.length, examples: wrong.slice(0, 5) }
  },
}
