import { startPostgres, type PostgresServer } from '../service/storage/postgres-server.ts'
import { startProxy } from '../service/storage/postgres/cut-connections.ts'
import { startCluster, stopServer } from './cluster.ts'
import { createLedger } from './ledger.ts'
import { call, must } from './requests.ts'
import type { Result, Torture } from './torture.ts'
import { createVariant } from './variant.ts'
import { startWriters } from './writers.ts'

/** A statement that nobody sends within this time is left out. */
const withinMs = 800

/** What a connection sends: the names of prepared statements, or texts of those that it prepares. */
const statements = [
  'svc_begin',
  'svc_lock',
  'svc_head',
  'svc_savepoint',
  'svc_release',
  'svc_commit',
  'insert into "geofences"',
  'insert into "audit"',
  'from "api_keys"',
  'from "organizations"',
  'from "organization_limits"',
]

/** As often as each statement is cut, `COMMIT` is cut this many times. */
const commitsPerRound = 16
const rounds = 18
const roundsOfControl = 3

type Cut = { text: string; forward: boolean; hole: boolean }

const cutsOfRound = (round: number): Cut[] => {
  const cuts: Cut[] = []
  for (const text of statements)
    for (const forward of [false, true]) cuts.push({ text, forward, hole: false })
  for (let n = 0; n < commitsPerRound; n++) cuts.push({ text: 'svc_commit', forward: true, hole: false })
  // A black hole takes 12 seconds, after which the service gives the connection up.
  const text = round % 2 === 0 ? 'svc_commit' : statements[round % statements.length]!
  cuts.push({ text, forward: round % 4 < 2, hole: true })
  return cuts
}

const cutAll = async (server: PostgresServer, times: number, program?: readonly string[]) => {
  const proxy = await startProxy(server.url('postgres'))
  const cluster = await startCluster(server, { count: 1, through: proxy.url, ...(program && { program }) })
  const ledger = createLedger()
  const hits: Record<string, number> = {}
  try {
    const { baseUrl } = cluster.nodes[0]!
    const orgs: number[] = []
    for (const name of ['A', 'B', 'C', 'D'])
      orgs.push((await must(call(baseUrl, 'createOrganization', cluster.key, { name }))).id)
    const stopWriters = startWriters(cluster, orgs, ledger)
    for (let round = 0; round < times; round++)
      for (const { text, forward, hole } of cutsOfRound(round)) {
        if (!(await proxy.cutOnce(text, { forward, hole, within: withinMs }))) continue
        const kind = hole ? 'black holes' : forward ? 'answers lost' : 'statements lost'
        hits[kind] = (hits[kind] ?? 0) + 1
        if (text === 'svc_commit') hits['of these at COMMIT'] = (hits['of these at COMMIT'] ?? 0) + 1
      }
    await stopWriters()
    const { sent, lost, untrue } = await ledger.judge(cluster)
    const wrong = [...lost, ...untrue, ...(await cluster.brokenChains(orgs))]
    hits.acknowledged = ledger.count('done')
    hits.refused = ledger.count('nothing changed')
    hits['outcome unknown'] = ledger.count('unknown')
    hits['no response'] = ledger.count('no response')
    return { sent, wrong, hits }
  } finally {
    await cluster.stop()
    proxy.stop()
  }
}

export const torture: Torture = {
  name: 'Answers of PostgreSQL lost at each kind of statement and at COMMIT',
  must: '0 untrue answers over at least 500 cuts',
  run: async (): Promise<Result> => {
    const server = await startPostgres()
    // The broken variant takes a commit whose answer was lost for a failure.
    const naive = createVariant([
      {
        file: 'service/storage/postgres/open-transaction.ts',
        from: 'if (committed === undefined) throw outcomeUnknown(error)',
        to: 'throw error',
      },
    ])
    try {
      const { sent, wrong, hits } = await cutAll(server, rounds)
      const cuts = hits['answers lost']! + hits['statements lost']! + hits['black holes']!
      if (cuts < 500) wrong.push(`only ${cuts} cuts`)
      const broken = await cutAll(server, roundsOfControl, naive.program)
      return {
        count: sent,
        failures: wrong.length,
        hits,
        control: broken.wrong.length,
        examples: wrong.slice(0, 5),
      }
    } finally {
      naive.remove()
      await stopServer(server)
    }
  },
}
