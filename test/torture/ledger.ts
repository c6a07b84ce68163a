import { call, exampleInput } from './requests.ts'
import type { Cluster } from './cluster.ts'

type Told = 'done' | 'nothing changed' | 'unknown' | 'no response'

type Place = { baseUrl: string; key: string; org: number }

/** What clients were told about each of their writes, to compare it with the store afterwards. */
export const createLedger = () => {
  const told = new Map<string, Told>()
  const odd: string[] = []

  const note = (name: string, status: number, text: string, code: unknown): void => {
    if (status === 200) told.set(name, 'done')
    else if (status === 503 && code === 'outcome_unknown') told.set(name, 'unknown')
    else if (status === 503 && text.includes('nothing was changed')) told.set(name, 'nothing changed')
    else odd.push(`${name}: ${status} ${text}`)
  }

  return {
    /** Creates a geofence with this name. False if there was no response. */
    write: async ({ baseUrl, key, org }: Place, name: string): Promise<boolean> => {
      told.set(name, 'no response')
      const input = { ...exampleInput('createGeofence'), org_id: org, name }
      const reply = await call(baseUrl, 'createGeofence', key, input).catch(() => undefined)
      if (reply)
        note(name, reply.status, reply.text, (reply.body.data as { code?: unknown } | undefined)?.code)
      return reply !== undefined
    },
    count: (what: Told): number => [...told.values()].filter((one) => one === what).length,
    /** Compares with the names that are in the store. */
    judge: async ({ query }: Pick<Cluster, 'query'>) => {
      const rows = await query<{ name: string }>('select name from geofences')
      const there = new Set(rows.map(({ name }) => name))
      const lost: string[] = []
      const untrue: string[] = []
      // Naive clients: one takes each request for done, the other each lost or refused one for a failure.
      let naive = 0
      for (const [name, what] of told) {
        if (what === 'done' && !there.has(name)) lost.push(`acknowledged and lost: ${name}`)
        if (what === 'nothing changed' && there.has(name)) untrue.push(`refused, and changed: ${name}`)
        if (what !== 'done') naive++
      }
      if (there.size !== rows.length) untrue.push(`${rows.length - there.size} written twice`)
      return { sent: told.size, lost, untrue: [...untrue, ...odd], naive, there }
    },
    told,
  }
}

export type Ledger = ReturnType<typeof createLedger>
