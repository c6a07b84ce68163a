import type { EventRecord } from '../../contract/event.ts'
import type { Log } from '../../core/log.ts'
import { addMs, hourMs } from '../../core/iso-time.ts'
import type { ChainRow } from '../../receipt/chain.ts'
import { auditByService } from '../call/audit.ts'
import type { Service } from '../call/service.ts'
import { signHead } from '../custody/audit-log.ts'
import { repeat } from '../call/repeat.ts'
import { nameOf } from '../delivery/attempt.ts'
import { takePeriod } from '../storage/period.ts'
import type { Db } from '../storage/schema.ts'
import { readSetting } from '../storage/settings.ts'
import type { Storage } from '../storage/storage.ts'
import { headAction } from './event.ts'

/** Adds the signed head to an event `audit.head`: the chain as it ended before the row of the event. */
export const withHead = async (
  service: Pick<Service, 'keyring' | 'publicUrl'>,
  event: EventRecord,
  row: ChainRow,
): Promise<EventRecord> => {
  if (row.action !== headAction) return event
  const { org_id, prev_hash: hash } = row
  const head = await signHead(service, { org_id, seq: row.seq - 1, hash }, row.at)
  return { ...event, data: { ...event.data, head } }
}

type Stating = Pick<Service, 'storage' | 'keyring'>

/** The chains of a store, also of deleted organizations. Each step reads one place of the index. */
async function* chains({ read }: Pick<Storage, 'read'>): AsyncGenerator<number> {
  for (let org = -1; ;) {
    const next = await read((db) =>
      db
        .selectFrom('audit')
        .where('org_id', '>', org)
        .select('org_id')
        .orderBy('org_id')
        .limit(1)
        .executeTakeFirst(),
    )
    if (!next) return
    org = next.org_id
    yield org
  }
}

const readLast = (db: Db, org: number) =>
  db
    .selectFrom('audit')
    .where('org_id', '=', org)
    .select(['seq', 'action'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()

/** Adds a row to each chain that has grown since the last one. The event of the row contains the signed head. */
export const stateHeads = async ({ storage, keyring }: Stating): Promise<void> => {
  for await (const org of chains(storage)) {
    const { action } = await storage.read((db) => readLast(db, org))
    if (action === headAction) continue
    await storage.write(
      async (db) => {
        const last = await readLast(db, org)
        if (last.action !== headAction)
          await auditByService({ db, keyring }, storage.now(), {
            orgId: org,
            action: headAction,
            subject: `audit:${last.seq}`,
          })
      },
      { org, routine: true },
    )
  }
}

const work = 'audit heads'

/** Whether an hour has passed, also if the service was restarted since. The first hour begins with the first start. */
const isDue = async (storage: Storage): Promise<boolean> => {
  const last = await storage.read((db) => readSetting(db, `last ${work}`))
  const now = storage.now()
  if (last !== undefined && last > addMs(now, -hourMs) && last <= now) return false
  const taken = await takePeriod({ ...storage, shared: true }, work, hourMs)
  return taken && last !== undefined
}

/** States the heads of all chains each hour, by one node. Returns a function that stops it. */
export const watchAuditHeads = (service: Stating, log: Log): (() => Promise<void>) => {
  const { storage } = service
  return repeat({
    everyMs: 60_000,
    run: async () => {
      if (await isDue(storage)) await stateHeads(service)
    },
    failed: (error) =>
      log({
        at: storage.now(),
        level: 'error',
        message: `The heads of the audit were not signed; the next attempt is in a minute: ${nameOf(error)}`,
      }),
  })
}
