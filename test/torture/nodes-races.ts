import { startPostgres } from '../service/storage/postgres-server.ts'
import { raceApprovals } from './approval-races.ts'
import { type Arena, createArena } from './arena.ts'
import { startCluster, stopServer } from './cluster.ts'
import { races } from './race-kinds.ts'
import type { Result, Torture } from './torture.ts'
import { type Change, createVariant } from './variant.ts'

const nodeCounts = [1, 2, 4]
/** Requests that are raced for, with each number of nodes. */
const requests = 1_000
const requestsOfControl = 40
/** Races of each kind in a broken variant. */
const timesOfControl = 8

const transactions = 'service/storage/postgres/open-transaction.ts'
const locks = 'service/storage/postgres/take-locks.ts'

/** Nobody waits for anybody. */
const withoutLock: Change[] = [
  {
    file: locks,
    from: 'select pg_advisory_xact_lock($1), ${serverTime}',
    to: 'select $1::text, ${serverTime}',
  },
  { file: locks, from: "text: 'select pg_advisory_xact_lock($1)'", to: "text: 'select $1::text'" },
  { file: locks, from: 'pg_try_advisory_xact_lock($1) as locked', to: '$1::text is not null as locked' },
]

/** A write locks its organization when it appends to the audit, after it has read what it changes. */
const lateLock: Change[] = [
  {
    file: transactions,
    from: `const locked = await lock(client, org, several)
        if (locked) heads.set(org, locked.head)`,
    to: 'void org',
  },
  { file: transactions, from: '[...orgs].every((org) => heads.has(org))', to: 'orgs !== undefined' },
  {
    file: transactions,
    from: 'head: (org) => {',
    to: 'head: async (org) => { if (!after.has(org)) after.set(org, (await lock(client, org))!.head);',
  },
  { file: transactions, from: 'if (!orgs.has(org)) throw new RunAgain(org)', to: '' },
  { file: transactions, from: 'if (orgs.has(org)) return false', to: 'return false' },
  {
    file: 'service/call/audit.ts',
    from: 'transactionOf(db)\n  const head = transaction.head(org_id)',
    to: 'transactionOf(db)\n  const head = await transaction.head(org_id)',
  },
  // The organizations of the races have no rules.
  { file: 'service/call/audit.ts', from: 'if (!head || org_id === 0) return 0', to: 'return 0' },
]

type Raced = { count: number; wrong: string[]; byKind: string[] }

const raceAll = async (
  arena: Arena,
  approvals: number,
  most: number,
  hits: Record<string, number>,
): Promise<Raced> => {
  const raced: Raced = { count: 0, wrong: [], byKind: [] }
  const note = (name: string, times: number, wrong: string[]): void => {
    raced.count += times
    raced.wrong.push(...wrong.map((one) => `${arena.cluster.nodes.length} nodes, ${name}: ${one}`))
    if (wrong.length > 0) raced.byKind.push(`${name} ${wrong.length} of ${times}`)
  }
  note('ends of one request', approvals, await raceApprovals(arena, approvals, hits))
  for (const { name, times: wanted, run } of races) {
    const times = Math.min(wanted, most)
    const wrong: string[] = []
    for (let n = 0; n < times; n++) {
      // A broken variant can also fail while a race is prepared.
      const one = await run(arena, n).catch((error: unknown) => String(error))
      if (one !== undefined) wrong.push(one)
    }
    note(name, times, wrong)
    hits[name] = (hits[name] ?? 0) + times
  }
  const orgs = [arena.acme.id, arena.beta.id]
  note('audit chains', orgs.length + 1, await arena.cluster.brokenChains(orgs, arena.operator))
  return raced
}

export const torture: Torture = {
  name: 'Races on 1, 2 and 4 nodes on PostgreSQL',
  must: 'exactly one outcome each, one consumption, nothing lost or doubled',
  run: async (): Promise<Result> => {
    const server = await startPostgres()
    const hits: Record<string, number> = {}
    const race = async (count: number, approvals: number, changes?: Change[]): Promise<Raced> => {
      const variant = changes && createVariant(changes)
      const cluster = await startCluster(server, { count, ...(variant && { program: variant.program }) })
      try {
        const arena = await createArena(cluster)
        return await raceAll(arena, approvals, variant ? timesOfControl : Infinity, variant ? {} : hits)
      } finally {
        await cluster.stop()
        variant?.remove()
      }
    }
    try {
      const raced: Raced[] = []
      for (const count of nodeCounts) raced.push(await race(count, requests))
      const unlocked = await race(4, requestsOfControl, withoutLock)
      const late = await race(4, requestsOfControl, lateLock)
      const wrong = raced.flatMap((one) => one.wrong)
      return {
        count: raced.reduce((sum, { count }) => sum + count, 0),
        failures: wrong.length,
        hits,
        control: Math.min(unlocked.wrong.length, late.wrong.length),
        examples: [
          ...wrong.slice(0, 5),
          `without the lock: ${unlocked.byKind.join(', ')}`,
          `with the lock at the audit: ${late.byKind.join(', ')}`,
        ],
      }
    } finally {
      await stopServer(server)
    }
  },
}
