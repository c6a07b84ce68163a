import { setImmediate } from 'node:timers/promises'
import type { EventRecord } from '../../contract/event.ts'
import { passes } from '../../contract/event.ts'
import { invalid } from '../../core/refusal.ts'
import { type ChainRow, genesisHash } from '../../receipt/chain.ts'
import type { HandlerOf } from '../call/call.ts'
import { reachChain } from '../custody/audit-log.ts'
import { auditTopic } from '../call/signals/signals.ts'
import { waitFor } from '../call/signals/wait.ts'
import type { Db } from '../storage/schema.ts'
import { withHead } from './audit-heads.ts'
import { eventIdOf, toEvent } from './event.ts'

/** Rows in one query, and in one request: what passes no filter must not make a request endless. */
const batch = 200
const scannedAtMost = 50 * batch
const standardLimit = 100
/** How long a row of another node, or of another process, can be missed. */
const polls = { shared: 1_000, alone: 5_000 }

/** The rows of a chain after `seq`, the oldest first. */
export const readRows = async (db: Db, orgId: number, seq: number, limit: number): Promise<ChainRow[]> => {
  const rows = await db
    .selectFrom('audit')
    .where('org_id', '=', orgId)
    .where('seq', '>', seq)
    .selectAll()
    .orderBy('seq')
    .limit(limit)
    .execute()
  return rows.map((row) => Object.assign(row, { changes: JSON.parse(row.changes) as string[] }))
}

type Place = Pick<ChainRow, 'org_id' | 'seq' | 'hash'>

const genesis = (org_id: number): Place => ({ org_id, seq: 0, hash: genesisHash })

const place = (db: Db, orgId: number) =>
  db.selectFrom('audit').where('org_id', '=', orgId).select(['org_id', 'seq', 'hash'])

/** The last row of a chain. */
export const readEnd = async (db: Db, orgId: number): Promise<Place> =>
  (await place(db, orgId).orderBy('seq', 'desc').limit(1).executeTakeFirst()) ?? genesis(orgId)

/** The row before the first one from this time on. */
export const readBefore = async (db: Db, orgId: number, time: string): Promise<Place> => {
  const at = new Date(time).toISOString()
  const first = await place(db, orgId).where('at', '>=', at).orderBy('seq').limit(1).executeTakeFirst()
  if (!first) return readEnd(db, orgId)
  return (
    (await place(db, orgId)
      .where('seq', '=', first.seq - 1)
      .executeTakeFirst()) ?? genesis(orgId)
  )
}

/** The row of an event. Refuses one of another chain, and one that is no longer in it. */
const readAfter = async (db: Db, orgId: number, id: string): Promise<Place> => {
  const [, org, seq] = id.split('_')
  if (Number(org) !== orgId)
    throw invalid(
      'after',
      `is an event of organization ${org}, not ${orgId}`,
      'Use an id of this organization',
    )
  const found =
    Number(seq) === 0
      ? genesis(orgId)
      : await place(db, orgId).where('seq', '=', Number(seq)).executeTakeFirst()
  if (found && eventIdOf(found) === id) return found
  throw invalid(
    'after',
    'is not in the audit log, which was restored or rewritten since',
    'Start again from a time with from (--since)',
  )
}

export const listEvents: HandlerOf<'listEvents'> = {
  before: async (
    { org_id, type, after, from, limit = standardLimit, wait_s = 0 },
    { service, caller, signal },
  ) => {
    const { storage, signals } = service
    if (after !== undefined && from !== undefined)
      throw invalid('after', 'cannot be combined with from', 'Leave one of them out')
    const filters = type === undefined ? [] : [type]
    let [at, orgId] = await storage.read(async (db): Promise<[Place, number]> => {
      const orgId = await reachChain({ db, caller }, org_id)
      if (after !== undefined) return [await readAfter(db, orgId, after), orgId]
      return [await (from === undefined ? readEnd(db, orgId) : readBefore(db, orgId, from)), orgId]
    })
    const wait = {
      topics: [auditTopic(orgId)],
      seconds: wait_s,
      signal: signal?.(),
      limit: { what: 'events' as const, ids: [orgId] },
    }
    const found: EventRecord[] = []
    const data = await waitFor(signals, wait, async () => {
      let scanned = 0
      while (found.length < limit && scanned < scannedAtMost) {
        const rows = await storage.read((db) => readRows(db, orgId, at.seq, batch))
        for (const row of rows) {
          at = row
          const event = toEvent(row)
          if (event && passes(event.type, filters)) found.push(await withHead(service, event, row))
          if (found.length === limit) break
        }
        scanned += rows.length
        if (rows.length < batch) break
        // An embedded store reads in this thread.
        await setImmediate()
      }
      return {
        value: { events: found, cursor: eventIdOf(at) },
        done: found.length > 0 || scanned >= scannedAtMost,
        mayChangeInMs: storage.shared ? polls.shared : polls.alone,
      }
    })
    return async () => data
  },
}
