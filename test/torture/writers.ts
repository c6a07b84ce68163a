import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import type { Ledger } from './ledger.ts'

const clients = 8
/** A client that was refused tries again after this. */
const refusedMs = 20

/** Clients that write to these organizations, each at one node, until the result is called. */
export const startWriters = (
  { nodes, key }: Pick<Cluster, 'nodes' | 'key'>,
  orgs: readonly number[],
  ledger: Ledger,
): (() => Promise<void>) => {
  const load = { stopped: false }
  const write = async (client: number): Promise<void> => {
    const { baseUrl } = nodes[client % nodes.length]!
    const place = { baseUrl, key, org: orgs[client % orgs.length]! }
    for (let i = 0; !load.stopped; i++) {
      const name = `client ${client} ${i}`
      await ledger.write(place, name)
      if (ledger.told.get(name) !== 'done') await pause(refusedMs)
    }
  }
  const working = Array.from({ length: clients }, (_, client) => write(client))
  return async () => {
    load.stopped = true
    await Promise.all(working)
  }
}
